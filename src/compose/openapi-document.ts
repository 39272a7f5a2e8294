import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** The OpenAPI document of this package, as JSON text. */
export function openapiDocument(): string {
  return JSON.stringify(parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')))
}
