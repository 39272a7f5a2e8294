import { dirname } from 'node:path'
import { _, type Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { type Plugin, transform } from 'esbuild'
import { SCHEMAS, schemaCompiler } from '../src/adapters/schema/compile-schema.ts'

/** A bundle compiles no schema: what ajv makes of each stands in the place of what would compile it. */
export const schemasCompiled: Plugin = {
  name: 'schemas-compiled',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]schema[\\/]compile-schema\.ts$/ }, async ({ path }) => ({
      contents: await objectValidators(),
      resolveDir: dirname(path),
    }))
  },
}

function objectValidators(): Promise<string> {
  const formats = _`require('./formats.ts').FORMATS`
  const ajv = schemaCompiler({ code: { source: true, esm: true, formats } })
  const validators = `({ ${Object.keys(SCHEMAS)} })`
  return compiled(ajv, { ...SCHEMAS }, `export const compileSchema = (kind) => ${validators}[kind]`)
}

async function compiled(ajv: Ajv, schemas: Record<string, object>, exported: string): Promise<string> {
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name)
  const names = Object.fromEntries(Object.keys(schemas).map((name) => [name, name]))
  const { code } = await transform(`${ADD_ERROR}\n${shorter(standalone.default(ajv, names))}\n${exported}`, {
    minify: true,
    format: 'esm',
  })
  return code
}

const ADD_ERROR = 'function addError(errors, error) { return errors === null ? [error] : (errors.push(error), errors) }'

/** What ajv writes out for each of many hundred errors: half of it is the same, or is not read by us. */
function shorter(code: string): string {
  return code
    .replaceAll(
      /if\(vErrors === null\)\{vErrors = \[(err\d+)\];\}\s*else \{vErrors\.push\(\1\);\}/g,
      'vErrors = addError(vErrors, $1);',
    )
    .replaceAll(/schemaPath:"(?:[^"\\]|\\.)*",/g, '')
}
