import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { parse } from 'yaml'
import type { Answer } from '../../src/cli/check-answer.ts'

export type Node = Record<string, unknown>

/** The API's description, and what it says about an answer. */
export interface OpenApi {
  document: Node
  /** `POST /events`, … */
  operations: string[]
  /** Where the answer is not one that the document describes for this request; none when it is. */
  check(method: string, path: string, answer: Answer): string[]
  /** Faults of a value by the schema at this place of the document. */
  checkValue(pointer: string[], value: unknown): string[]
  node(pointer: string[]): Node
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

export async function loadOpenApi(file = 'openapi.yaml'): Promise<OpenApi> {
  const document = parse(await readFile(join(import.meta.dirname, '../..', file), 'utf8')) as Node
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
  ajvFormats.default(ajv)
  ajv.addSchema(document, 'openapi')

  const node = (pointer: string[]): Node => at(document, locate(document, pointer))
  const checkValue = (pointer: string[], value: unknown): string[] => {
    const $ref = `openapi#/${locate(document, pointer)
      .map((step) => encodeURI(step.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/')}`
    const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref })
    return validate(value) ? [] : [ajv.errorsText(validate.errors, { dataVar: pointer.at(-4) ?? 'value' })]
  }
  const checkBody = (pointer: string[], { headers, body }: Answer): string[] => {
    const content = node(pointer)['content'] as Node | undefined
    if (body === '') return []
    const mediaType = (headers['content-type'] ?? '').split(';')[0] ?? ''
    if (content?.[mediaType] === undefined) return [`media type ${mediaType} is not described`]
    const value = /[/+]json$/.test(mediaType) ? JSON.parse(body) : body
    return [...checkValue([...pointer, 'content', mediaType, 'schema'], value), ...checkPatch(value)]
  }
  const checkPatch = (value: unknown): string[] => {
    const patch = (value as { response?: { patch?: unknown } }).response?.patch
    if (typeof patch !== 'string') return []
    return checkValue(['components', 'schemas', 'JsonPatch'], JSON.parse(Buffer.from(patch, 'base64').toString()))
  }
  const checkHeaders = (pointer: string[], { headers }: Answer): string[] => {
    const described = Object.keys((node(pointer)['headers'] as Node | undefined) ?? {})
    return described.flatMap((name) => {
      const header = [...pointer, 'headers', name]
      const value = headers[name.toLowerCase()]
      if (value === undefined) return node(header)['required'] === true ? [`header ${name} is missing`] : []
      const isNumber = node([...header, 'schema'])['type'] === 'integer'
      return checkValue([...header, 'schema'], isNumber ? Number(value) : value)
    })
  }
  return {
    document,
    operations: operationsOf(document),
    node,
    checkValue,
    check(method, path, answer) {
      const route = path.split('?')[0] ?? ''
      const item = (document['paths'] as Node)[route] as Node | undefined
      // What is no operation has no place in the document; its answer is the one error body.
      if (item === undefined)
        return [404, 400].includes(answer.status) ? checkError(answer, checkValue) : ['no such path']
      const operation = item[method.toLowerCase()]
      if (operation === undefined) return answer.status === 405 ? checkError(answer, checkValue) : ['no such operation']
      const pointer = ['paths', route, method.toLowerCase(), 'responses', String(answer.status)]
      if ((operation as { responses: Node }).responses[String(answer.status)] === undefined) {
        return [`status ${answer.status} is not described`]
      }
      return [...checkBody(pointer, answer), ...checkHeaders(pointer, answer)]
    },
  }
}

function checkError(answer: Answer, checkValue: OpenApi['checkValue']): string[] {
  return answer.body === '' ? [] : checkValue(['components', 'schemas', 'Error'], JSON.parse(answer.body))
}

function operationsOf(document: Node): string[] {
  return Object.entries(document['paths'] as Record<string, Node>).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

/** The place itself, where a pointer leads through `$ref`s. */
function locate(document: Node, pointer: string[]): string[] {
  let place: string[] = []
  for (const step of pointer) {
    place = [...place, step]
    const reference = at(document, place)?.['$ref']
    if (typeof reference === 'string') place = locate(document, reference.slice('#/'.length).split('/'))
  }
  return place
}

function at(document: Node, place: string[]): Node {
  return place.reduce<Node>((node, step) => node[step] as Node, document)
}
