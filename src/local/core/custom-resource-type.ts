import { hasDefaults } from '../schema/default-object.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { createSchemaValidator } from '../schema/validate-schema.ts'
import type { ApiObject } from './api-object.ts'
import { asArray, asRecord, asString, isRecord } from './json.ts'
import type { PrinterColumn, ResourceType, VersionOfType } from './resource-type.ts'

/** What a CustomResourceDefinition asks the API to serve. The CRD has been validated before. */
export function customResourceType(definition: ApiObject): ResourceType {
  const spec = asRecord(definition['spec'])
  const names = asRecord(spec['names'])
  const kind = asString(names['kind'])
  return {
    group: asString(spec['group']),
    plural: asString(names['plural']),
    kind,
    listKind: asString(names['listKind']) || `${kind}List`,
    singular: asString(names['singular']) || kind.toLowerCase(),
    shortNames: asArray(names['shortNames']).map(asString),
    categories: asArray(names['categories']).map(asString),
    namespaced: spec['scope'] === 'Namespaced',
    versions: asArray(spec['versions']).map((version) => versionOf(asRecord(version))),
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    nameRule: 'subdomain',
    custom: true,
    generation: true,
    unconditionalUpdate: false,
    returnsDeleted: false,
    statusOnCreate: false,
    mergeKeys: {},
    selectableFields: asArray(asRecord(asArray(spec['versions'])[0])['selectableFields']).map((field) =>
      asString(asRecord(field)['jsonPath']).replace(/^\./, ''),
    ),
  }
}

function versionOf(version: Record<string, unknown>): VersionOfType {
  const schema = asRecord(asRecord(version['schema'])['openAPIV3Schema']) as StructuralSchema
  return {
    name: asString(version['name']),
    served: version['served'] === true,
    storage: version['storage'] === true,
    hasStatus: isRecord(asRecord(version['subresources'])['status']),
    schema,
    validator: createSchemaValidator(schema),
    hasDefaults: hasDefaults(schema),
    columns: asArray(version['additionalPrinterColumns']).map((column) => asRecord(column) as unknown as PrinterColumn),
  }
}
