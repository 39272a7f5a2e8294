import type { ApiObject } from './api-object.ts'
import { asArray, asRecord, asString, isRecord } from './json.ts'
import type { FieldError } from './status-error.ts'

/** The rules without which a CRD could not be served. The structural rules of its schema are not checked. */
export function validateCustomResourceDefinition(definition: ApiObject): FieldError[] {
  const spec = asRecord(definition['spec'])
  const names = asRecord(spec['names'])
  const versions = asArray(spec['versions']).map(asRecord)
  const errors: FieldError[] = []
  const expected = `${asString(names['plural'])}.${asString(spec['group'])}`
  if (definition.metadata.name !== expected) {
    const message = `Invalid value: ${JSON.stringify(definition.metadata.name)}: must be spec.names.plural+"."+spec.group`
    errors.push({ field: 'metadata.name', reason: 'FieldValueInvalid', message })
  }
  if (versions.filter((version) => version['storage'] === true).length !== 1) {
    const message = `Invalid value: ${JSON.stringify(versions.map((version) => version['name']))}: must have exactly one version marked as storage version`
    errors.push({ field: 'spec.versions', reason: 'FieldValueInvalid', message })
  }
  for (const [index, version] of versions.entries()) {
    if (isRecord(asRecord(version['schema'])['openAPIV3Schema'])) continue
    const field = `spec.versions[${index}].schema.openAPIV3Schema`
    errors.push({ field, reason: 'FieldValueRequired', message: 'Required value: schemas are required' })
  }
  return errors
}
