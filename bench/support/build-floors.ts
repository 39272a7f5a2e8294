import { join } from 'node:path'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { build, type Plugin } from 'esbuild'
import { reviewSchema } from '../floors/review-schema.ts'

const FLOORS = join(import.meta.dirname, '../floors')
const BUILT = ['bare-https', 'https-with-ajv', 'leaf-host'] as const

/** Builds what ours is measured against as ours is built: one file each, `NAME.cjs` in this folder. */
export async function buildFloors(folder: string): Promise<void> {
  await build({
    entryPoints: BUILT.map((name) => join(FLOORS, `${name}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    logLevel: 'warning',
    plugins: [compiledValidator],
  })
}

const compiledValidator: Plugin = {
  name: 'compiled-validator',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^review-validator$/ }, ({ path }) => ({ path, namespace: 'compiled' }))
    onLoad({ filter: /.*/, namespace: 'compiled' }, () => ({ contents: validatorCode(), resolveDir: FLOORS }))
  },
}

function validatorCode(): string {
  const ajv = new Ajv({
    code: { source: true },
    validateFormats: false,
    meta: false,
    validateSchema: false,
    strict: false,
  })
  return standalone.default(ajv.addSchema(reviewSchema, 'review'), { validateReview: 'review' })
}
