import { createHash } from 'node:crypto'
import type { ResourceType, VersionOfType } from '../core/resource-type.ts'
import { noSuchResource } from '../core/status-error.ts'
import { mapOf, object, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { servedVersions } from './discovery.ts'

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** `/openapi/v3`: which documents there are. The hash changes with the content, so that clients may cache. */
export function openApiIndex(types: ResourceType[]) {
  const entries = servedVersions(types).map(({ group, version }): [string, { serverRelativeURL: string }] => {
    const path = documentPath(group, version)
    const content = JSON.stringify(openApiDocument(types, group, version))
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 32).toUpperCase()
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]
  })
  return { paths: Object.fromEntries(entries) }
}

function documentPath(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

/** One document a group and version: enough for validation, explain, diff and apply of kubectl. */
export function openApiDocument(types: ResourceType[], group: string, version: string) {
  const served = servedVersions(types).find((one) => one.group === group && one.version === version)
  if (served === undefined) throw noSuchResource()
  const base = `/${documentPath(group, version)}`
  const paths: Record<string, unknown> = {}
  const schemas: Record<string, unknown> = { [OBJECT_META]: objectMetaSchema() }
  for (const { type, version: own } of served.resources) {
    schemas[schemaName(type, own)] = kindDocument(type, own)
    const collection = type.namespaced ? `${base}/namespaces/{namespace}/${type.plural}` : `${base}/${type.plural}`
    paths[collection] = collectionPath(type, own)
    paths[`${collection}/{name}`] = objectPath(type, own)
    if (own.hasStatus) paths[`${collection}/{name}/status`] = objectPath(type, own)
  }
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.36.0' }, paths, components: { schemas } }
}

/** `io.k8s.api.core.v1.Service`, `dev.karmada.networking.v1alpha1.…`: the group backwards, version, kind. */
function schemaName({ group, kind }: ResourceType, { name }: VersionOfType): string {
  const prefix = group === '' ? 'io.k8s.api.core' : group.split('.').reverse().join('.')
  return `${prefix}.${name}.${kind}`
}

function gvk({ group, kind }: ResourceType, { name }: VersionOfType) {
  return { group, kind, version: name }
}

function kindDocument(type: ResourceType, version: VersionOfType) {
  const { properties = {}, ...schema } = version.schema
  const metadata = {
    description: 'Name, namespace, labels and what the system keeps about the object.',
    allOf: [{ $ref: `#/components/schemas/${OBJECT_META}` }],
  }
  return { ...schema, properties: { ...properties, metadata }, 'x-kubernetes-group-version-kind': [gvk(type, version)] }
}

function objectMetaSchema(): StructuralSchema {
  return object(
    {
      name: text('Unique within the namespace and kind.'),
      generateName: text('Beginning of a name that the server completes.'),
      namespace: text('The namespace; empty for cluster-scoped kinds.'),
      labels: mapOf(text(), 'Short values to select by.'),
      annotations: mapOf(text(), 'Any other values.'),
      finalizers: { type: 'array', items: text(), description: 'Who has to agree before the object goes.' },
      ownerReferences: {
        type: 'array',
        description: 'Objects this one goes with.',
        items: object({ 'apiVersion!': text(), 'kind!': text(), 'name!': text(), 'uid!': text() }),
      },
      uid: text('Unique for ever; set by the server.'),
      resourceVersion: text('Changes with every write; set by the server.'),
      generation: { type: 'integer', format: 'int64', description: 'Counts changes of the desired state.' },
      creationTimestamp: text('When the object was made.', { format: 'date-time' }),
      deletionTimestamp: text('When deletion was asked for.', { format: 'date-time' }),
    },
    'What every object has.',
  )
}

const parameter = (name: string, description: string) => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string', uniqueItems: true },
})

const WRITE_PARAMETERS = [
  parameter('dryRun', 'All: do everything except storing.'),
  parameter('fieldManager', 'Who writes.'),
  parameter('fieldValidation', 'What happens to unknown fields: Ignore, Warn or Strict.'),
]

function operation(
  action: string,
  type: ResourceType,
  version: VersionOfType,
  parameters: unknown[],
  content?: unknown,
) {
  const reference = { schema: { $ref: `#/components/schemas/${schemaName(type, version)}` } }
  return {
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk(type, version),
    parameters,
    ...(content === undefined ? {} : { requestBody: { content } }),
    responses: { 200: { description: 'OK', content: { 'application/json': reference } } },
  }
}

function collectionPath(type: ResourceType, version: VersionOfType) {
  const body = { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(type, version)}` } } }
  return {
    get: operation('list', type, version, [parameter('labelSelector', 'Only objects with these labels.')]),
    post: operation('post', type, version, WRITE_PARAMETERS, body),
  }
}

function objectPath(type: ResourceType, version: VersionOfType) {
  const body = { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(type, version)}` } } }
  const anyObject = { schema: { type: 'object' } }
  const patchTypes = {
    'application/apply-patch+yaml': anyObject,
    'application/json-patch+json': anyObject,
    'application/merge-patch+json': anyObject,
  }
  const force = parameter('force', 'Takes over fields of others; nothing ever conflicts here.')
  return {
    get: operation('get', type, version, []),
    put: operation('put', type, version, WRITE_PARAMETERS, body),
    patch: operation('patch', type, version, [...WRITE_PARAMETERS, force], patchTypes),
    delete: operation('delete', type, version, [parameter('dryRun', 'All: do everything except storing.')]),
  }
}
