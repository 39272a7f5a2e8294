import type { Plugin } from 'esbuild'
import { openapiDocument } from '../src/compose/openapi-document.ts'

/** A function has no files beside it to read the OpenAPI document from. */
export const documentInside: Plugin = {
  name: 'openapi-document-inside',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]compose[\\/]openapi-document\.ts$/ }, () => ({
      contents: `export const openapiDocument = () => ${JSON.stringify(openapiDocument())}`,
    }))
  },
}
