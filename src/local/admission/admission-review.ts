import type { AdmissionAttributes } from '../core/admission-chain.ts'
import type { ApiObject } from '../core/api-object.ts'
import type { JsonRecord } from '../core/json.ts'
import { inVersion, type VersionOfType } from '../core/resource-type.ts'

export interface AdmissionReview {
  kind: 'AdmissionReview'
  apiVersion: 'admission.k8s.io/v1'
  request: JsonRecord & { uid: string }
}

/** protocols §1.1, §1.2: three fields are null when absent, the names are left out when empty. */
export function admissionReview(attributes: AdmissionAttributes, version: VersionOfType, uid: string): AdmissionReview {
  const { type, subresource, name, namespace, operation, user, dryRun, options } = attributes
  const shown = (object: ApiObject | undefined) => (object === undefined ? null : inVersion(object, type, version.name))
  const original = attributes.version.name
  const subResource = subresource === '' ? {} : { subResource: subresource }
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: { group: type.group, version: version.name, kind: type.kind },
      resource: { group: type.group, version: version.name, resource: type.plural },
      ...subResource,
      requestKind: { group: type.group, version: original, kind: type.kind },
      requestResource: { group: type.group, version: original, resource: type.plural },
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: user,
      object: operation === 'DELETE' ? null : shown(attributes.object),
      oldObject: shown(attributes.oldObject),
      dryRun,
      options,
    },
  }
}
