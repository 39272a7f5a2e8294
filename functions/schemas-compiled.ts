import { dirname } from 'node:path'
import { _, type Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { type Plugin, transform } from 'esbuild'
import { protocolCompiler } from '../src/adapters/schema/compile-protocol-schema.ts'
import { SCHEMAS, schemaCompiler } from '../src/adapters/schema/compile-schema.ts'
import { configSchemaCompiler } from '../src/config/compile-config-schema.ts'
import { CONFIG_SCHEMA } from '../src/config/config-schema.ts'
import { OPERATIONS } from '../src/provider/protocol/operations.ts'
import { schemaReference } from '../src/provider/protocol/protocol-schemas.ts'

/** A bundle compiles no schema: what ajv makes of each stands in the place of what would compile it. */
export const schemasCompiled: Plugin = {
  name: 'schemas-compiled',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]schema[\\/]compile-schema\.ts$/ }, async ({ path }) => ({
      contents: await objectValidators(),
      resolveDir: dirname(path),
    }))
    onLoad({ filter: /[\\/]schema[\\/]compile-protocol-schema\.ts$/ }, async ({ path }) => ({
      contents: await protocolValidators(),
      resolveDir: dirname(path),
    }))
    onLoad({ filter: /[\\/]config[\\/]compile-config-schema\.ts$/ }, async ({ path }) => ({
      contents: await configValidator(),
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

/** What the client reads. Requests are read by whoever serves a provider, and no bundle does. */
function protocolValidators(): Promise<string> {
  const ajv = protocolCompiler({ inlineRefs: false, code: { source: true, esm: true } })
  const names = new Set(['Description', 'Problem', ...Object.values(OPERATIONS).map(({ answer }) => answer)])
  const references = Object.fromEntries([...names].map((name) => [name, schemaReference(name)]))
  return transformed(ajv, references, `export const protocolSchemas = () => (name) => ({ ${[...names]} })[name]`)
}

function configValidator(): Promise<string> {
  const ajv = configSchemaCompiler({ code: { source: true, esm: true } })
  return compiled(ajv, { config: CONFIG_SCHEMA }, 'export const compileConfigSchema = () => config')
}

async function compiled(ajv: Ajv, schemas: Record<string, object>, exported: string): Promise<string> {
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name)
  return transformed(ajv, Object.fromEntries(Object.keys(schemas).map((name) => [name, name])), exported)
}

/** Each name is that of a function, and of the schema that it compares with. */
async function transformed(ajv: Ajv, names: Record<string, string>, exported: string): Promise<string> {
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
