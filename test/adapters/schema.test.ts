import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { interpretSchema } from '../../src/adapters/schema/interpret-schema.ts'
import { createSchemaValidator } from '../../src/adapters/schema/schema-validator.ts'
import { CONFIG_SCHEMA } from '../../src/config/config-schema.ts'
import type { Finding } from '../../src/domain/finding.ts'
import type { JsonSchema } from '../../src/domain/validation/json-schema.ts'
import { multiClusterIngressSchema } from '../../src/domain/validation/multi-cluster-ingress-schema.ts'
import { multiClusterServiceSchema } from '../../src/domain/validation/multi-cluster-service-schema.ts'
import { PROTOCOL_SCHEMAS, schemaOf } from '../../src/provider/protocol/protocol-schemas.ts'

const validate = createSchemaValidator()
const shared = join(import.meta.dirname, '../../../shared')
const absent = (folder: string) => (existsSync(folder) ? false : `no ${folder}`)

const lines = (findings: readonly Finding[]) => findings.map(({ field, message }) => `${field}: ${message}`)
const ofService = (spec: unknown, status?: unknown) =>
  lines(validate('MultiClusterService', status === undefined ? { spec } : { spec, status }))
const inBody = (field: string, detail: string, value: string) =>
  `${field}: Invalid value: ${value}: ${field} in body ${detail}`
const wrongType = (field: string, expected: string, found: string) =>
  inBody(field, `must be of type ${expected}: "${found}"`, `"${found}"`)

t.test('what is as the definition wants it, and what it does not know', async (t) => {
  t.same(validate('MultiClusterIngress', {}), [], 'nothing is required')
  t.same(validate('MultiClusterIngress', { spec: { more: 1, rules: [{ http: { paths: [] }, more: {} }] } }), [])
  t.same(ofService({ types: [], sessionAffinity: 'ClientIP' }), [])
  t.same(validate('MultiClusterService', { more: [], spec: { types: ['Any'] } }), [], 'values are for the rules')
})

t.test('the words of the API server', async (t) => {
  t.same(lines(validate('MultiClusterService', {})), ['spec: Required value'])
  t.same(ofService({}), ['spec.types: Required value'])
  t.same(
    ofService({ types: [null, 5, 1.5, true, [], {}] }),
    ['null', 'integer', 'number', 'boolean', 'array', 'object'].map((found, index) =>
      wrongType(`spec.types[${index}]`, 'string', found),
    ),
  )
  t.same(ofService({ types: 'LoadBalancer' }), [wrongType('spec.types', 'array', 'string')])
  t.same(lines(validate('MultiClusterIngress', [])), [
    ': Invalid value: "array":  in body must be of type object: "array"',
  ])

  const backend = { service: { name: 'web', port: { number: '80' } } }
  t.same(
    lines(
      validate('MultiClusterIngress', { spec: { rules: [{ http: { paths: [{}, { pathType: 'Exact', backend }] } }] } }),
    ),
    [
      'spec.rules[0].http.paths[0].backend: Required value',
      'spec.rules[0].http.paths[0].pathType: Required value',
      wrongType('spec.rules[0].http.paths[1].backend.service.port.number', 'integer', 'string'),
    ],
  )
})

t.test('a number with a format is called by Go names', async (t) => {
  const port = (value: unknown) => ofService({ types: [], ports: [{ port: value }] })
  const field = 'spec.ports[0].port'
  t.same(port(2 ** 31 - 1), [])
  t.same(port(-(2 ** 31)), [])
  for (const value of [2 ** 31, -(2 ** 31) - 1])
    t.same(port(value), [
      `${field}: Invalid value: "": Checked value must be of type integer with format int32 in ${field}`,
    ])
  for (const value of [1.5, 1e30]) t.same(port(value), [wrongType(field, 'int32', 'float64')])
  for (const value of [true, {}]) t.same(port(value), [wrongType(field, 'int32', '')])
  t.same(port(null), [wrongType(field, 'integer', 'null')])
  t.same(port([]), [wrongType(field, 'integer', 'array')])
})

t.test('conditions', async (t) => {
  const good = { type: 'Ready', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const condition = (over: unknown) => ofService({ types: [] }, { conditions: [Object.assign({ ...good }, over)] })
  const at = (key: string) => `status.conditions[0].${key}`
  t.same(condition({}), [])
  t.same(condition({ status: 'Maybe' }), [
    `${at('status')}: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`,
  ])
  t.same(condition({ status: 5 }), [
    wrongType(at('status'), 'string', 'integer'),
    `${at('status')}: Unsupported value: 5: supported values: "True", "False", "Unknown"`,
  ])
  t.same(condition({ reason: '' }), [inBody(at('reason'), 'should be at least 1 chars long', '""')])
  t.same(condition({ reason: '9x' }), [
    inBody(at('reason'), "should match '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'", '"9x"'),
  ])
  t.same(condition({ reason: '9'.repeat(1025) }), [`${at('reason')}: Too long: may not be more than 1024 bytes`])
  t.same(condition({ observedGeneration: -1 }), [
    inBody(at('observedGeneration'), 'should be greater than or equal to 0', '-1'),
  ])
  t.same(condition({ observedGeneration: 2 ** 63 }), [wrongType(at('observedGeneration'), 'int64', 'float64')])
  t.same(condition({ lastTransitionTime: 5 }), [wrongType(at('lastTransitionTime'), 'date-time', 'int64')])

  for (const time of [
    '2026-01-01t00:00:00z',
    '2024-02-29T23:59:59.123+02:00',
    '2000-02-29T00:00:00Z',
    '2026-04-30T00:00:00,5Z',
  ])
    t.same(condition({ lastTransitionTime: time }), [], time)
  for (const time of [
    '',
    '2026-01-01',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T23:59:60Z',
  ])
    t.same(condition({ lastTransitionTime: time }), [wrongType(at('lastTransitionTime'), 'date-time', time)], time)
})

t.test('a finding says its reason as the API does', async (t) => {
  const status = { conditions: [{ type: 'x'.repeat(317), status: '', reason: '', message: 1, lastTransitionTime: '' }] }
  const reasons = validate('MultiClusterService', { spec: {}, status }).map(({ field, reason }) => [field, reason])
  t.strictSame(Object.fromEntries(reasons), {
    'spec.types': 'FieldValueRequired',
    'status.conditions[0].type': 'FieldValueTooLong',
    'status.conditions[0].status': 'FieldValueNotSupported',
    'status.conditions[0].reason': 'FieldValueInvalid',
    'status.conditions[0].message': 'FieldValueTypeInvalid',
    'status.conditions[0].lastTransitionTime': 'FieldValueTypeInvalid',
  })
})

t.test('nothing that is JSON makes it throw', async () => {
  const json = fc.oneof(fc.jsonValue(), fc.record({ spec: fc.jsonValue(), status: fc.jsonValue() }))
  fc.assert(
    fc.property(json, fc.constantFrom('MultiClusterIngress', 'MultiClusterService'), (object, kind) =>
      validate(kind, object).every(({ message }) => message !== ''),
    ),
  )
})

const definitions = join(shared, 'crds')

t.test("the schemas are those of Karmada's definitions", { skip: absent(definitions) }, async (t) => {
  const pairs: [string, JsonSchema][] = [
    ['networking.karmada.io_multiclusteringresses.yaml', multiClusterIngressSchema],
    ['networking.karmada.io_multiclusterservices.yaml', multiClusterServiceSchema],
  ]
  for (const [file, schema] of pairs) {
    const definition = parse(readFileSync(join(definitions, file), 'utf8'))
    t.strictSame(normal(schema), normal(definition.spec.versions[0].schema.openAPIV3Schema), file)
  }
})

/** Without descriptions, and with the required fields in one order. */
function normal(schema: JsonSchema): unknown {
  const { properties, items, required, ...rest } = schema
  const { description: _, ...own } = rest as Record<string, unknown>
  const children = Object.entries(properties ?? {}).map(([key, child]) => [key, normal(child)])
  return {
    ...own,
    required: required?.toSorted() ?? [],
    properties: Object.fromEntries(children),
    items: items === undefined ? null : normal(items),
  }
}

interface Case {
  file: string
  after: string | null
  admission: { kind: string; name: string; schema: string }[]
  admissionAfter: { kind: string; name: string; schema: string }[]
}

const folder = join(shared, 'cases/karmada')

t.test('the corpus: what the definitions refuse', { skip: absent(folder) }, async (t) => {
  const cases: Case[] = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
  let compared = 0
  for (const { file, after, admission, admissionAfter } of cases) {
    for (const [name, verdicts] of [
      [file, admission],
      [after, admissionAfter],
    ] as const) {
      const objects = verdicts.length === 0 ? [] : parseAllDocuments(readFileSync(join(folder, name ?? ''), 'utf8'))
      for (const { kind, name: objectName, schema } of verdicts) {
        if (kind !== 'MultiClusterIngress' && kind !== 'MultiClusterService') continue
        const object = objects
          .map((document) => document.toJS())
          .find((candidate) => candidate?.kind === kind && nameOf(candidate.metadata).startsWith(objectName))
        t.ok(object, `${name} has ${kind} ${objectName}`)
        t.same(
          lines(validate(kind, object)).map(inShort),
          schema === 'ok' ? [] : schema.split('; '),
          `${name} ${objectName}`,
        )
        compared += 1
      }
    }
  }
  t.ok(compared > 0)
  t.comment(`${compared} verdicts compared`)
})

function nameOf({ name, generateName }: { name?: string; generateName?: string }): string {
  return name ?? `${generateName}*`
}

/** The corpus was judged by a checker with shorter words: `Invalid value: "str": must be of type integer`. */
function inShort(line: string): string {
  return line.replace(/Invalid value: "(.{3}).*": \S+ in body (must be of type \w+): .*/, 'Invalid value: "$1": $2')
}

/** Values that are nearly right: what a schema asks for, with something else in some of its places. */
function nearly(schema: object, resolve: (reference: string) => object, depth = 0): fc.Arbitrary<unknown> {
  const { $ref, type, properties, items, anyOf, ...rest } = schema as Record<string, never>
  if ($ref !== undefined) return depth > 6 ? fc.constant({}) : nearly(resolve($ref), resolve, depth + 1)
  const texts = fc.constantFrom('', 'a', 'b', '🙂🙂', 'https://issuer', '/a', 'a/b', 'In', 'x'.repeat(254))
  const odd = fc.oneof(fc.constantFrom(null, true, 0, 1, -1, 1.5, 2 ** 53, [], {}), texts)
  const choices = [rest['enum'] ?? [], rest['const'] ?? []].flat()
  const fitting = (): fc.Arbitrary<unknown> => {
    if (anyOf !== undefined) return fc.oneof(...(anyOf as object[]).map((branch) => nearly(branch, resolve, depth + 1)))
    if (choices.length > 0) return fc.constantFrom(...choices)
    if (type === 'array') return fc.array(nearly(items ?? {}, resolve, depth + 1), { maxLength: 3 })
    if (type !== 'object') return odd
    const known = Object.entries(properties ?? {}).map(([name, one]) => [
      name,
      nearly(one as object, resolve, depth + 1),
    ])
    const arbitraries: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries([...known, ['mis/spe~lt', odd]])
    return fc.record(arbitraries, { requiredKeys: [] })
  }
  return fc.oneof({ weight: 9, arbitrary: fitting() }, { weight: 1, arbitrary: odd })
}

t.test('what is interpreted is found wrong as ajv finds it, and gets the same defaults', async (t) => {
  const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: false })
  const document = { $id: 'protocol', components: { schemas: PROTOCOL_SCHEMAS } }
  ajv.addSchema(document)
  const schemas = Object.keys(PROTOCOL_SCHEMAS).map((name) => ({
    schema: schemaOf(name),
    compiled: ajv.getSchema(`protocol#/components/schemas/${name}`),
  }))
  for (const { schema, compiled } of [...schemas, { schema: CONFIG_SCHEMA, compiled: ajv.compile(CONFIG_SCHEMA) }]) {
    if (compiled === undefined) throw new TypeError('ajv does not know it')
    let wrong = 0
    fc.assert(
      fc.property(nearly(schema, schemaOf), (value) => {
        const [ours, theirs] = [structuredClone(value), structuredClone(value)]
        compiled(theirs)
        const expected = (compiled.errors ?? []).map(({ schemaPath: _, ...error }) => error)
        wrong += expected.length
        assert.deepEqual(interpretSchema(schema, ours, { resolve: schemaOf, setsDefaults: true }), expected)
        assert.deepEqual(ours, theirs)
      }),
      { numRuns: 200 },
    )
    t.not(wrong, 0, 'something was wrong')
  }
})
