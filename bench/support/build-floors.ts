import { join } from 'node:path'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { type BuildOptions, build } from 'esbuild'
import { reviewSchema } from '../floors/review-schema.ts'

const BENCH = join(import.meta.dirname, '..')
const BUILT = [
  'floors/bare-https',
  'floors/https-with-ajv',
  'floors/leaf-host',
  'floors/object-server',
  'peers/express-with-ajv',
  'peers/pepr-module',
]

const AS_OURS: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  logLevel: 'warning',
}

/**
 * Builds what ours is measured against as ours is built, one file each: `NAME.cjs` in this folder, and
 * `review-validator.cjs`, which ajv compiled.
 */
export async function buildFloors(folder: string): Promise<void> {
  await build({
    ...AS_OURS,
    entryPoints: BUILT.map((name) => join(BENCH, `${name}.ts`)),
    entryNames: '[name]',
    outdir: folder,
    outExtension: { '.js': '.cjs' },
  })
  await build({
    ...AS_OURS,
    stdin: { contents: validatorCode(), resolveDir: BENCH },
    outfile: join(folder, 'review-validator.cjs'),
  })
}

function validatorCode(): string {
  const settings = { code: { source: true }, validateFormats: false, meta: false, validateSchema: false, strict: false }
  const ajv = new Ajv(settings).addSchema(reviewSchema, 'review')
  return standalone.default(ajv, { validateReview: 'review' })
}
