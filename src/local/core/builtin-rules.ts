import type { ApiObject } from './api-object.ts'
import { withMetadata } from './api-object.ts'
import { asArray, asRecord, asString, jsonEqual } from './json.ts'
import type { FieldError } from './status-error.ts'

/** The label that makes a namespace selectable by name, and the phase. */
export function prepareNamespace(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name }
  const labelled = withMetadata(object, { labels })
  if (old !== undefined) return { ...labelled, spec: old['spec'] }
  return { ...labelled, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }
}

/** `stringData` is written only; it is read as `data`. */
export function prepareSecret(secret: ApiObject): ApiObject {
  const { stringData, ...rest } = secret
  if (stringData === undefined) return secret
  const encoded = Object.entries(asRecord(stringData)).map(([key, value]): [string, string] => {
    return [key, Buffer.from(asString(value)).toString('base64')]
  })
  const data = { ...asRecord(secret['data']), ...Object.fromEntries(encoded) }
  return { ...rest, apiVersion: secret.apiVersion, kind: secret.kind, metadata: secret.metadata, data }
}

/** A CRD is served at once, so it says so from the start. */
export function prepareCustomResourceDefinition(definition: ApiObject): ApiObject {
  const spec = asRecord(definition['spec'])
  const lastTransitionTime = definition.metadata.creationTimestamp
  const versions = asArray(spec['versions']).map(asRecord)
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime,
  })
  return {
    ...definition,
    spec: { ...spec, conversion: spec['conversion'] ?? { strategy: 'None' } },
    status: {
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      acceptedNames: spec['names'],
      storedVersions: versions.filter((version) => version['storage'] === true).map((version) => version['name']),
    },
  }
}

/** An event lies in the namespace of its object; events on cluster-scoped objects lie in `default`. */
export function validateEvent(event: ApiObject): FieldError[] {
  const namespace = asString(asRecord(event['involvedObject'])['namespace'])
  const own = event.metadata.namespace ?? ''
  const fits = namespace === '' ? own === 'default' || own === 'kube-system' : namespace === own
  if (fits) return []
  const message = `Invalid value: ${JSON.stringify(namespace)}: does not match event.namespace`
  return [{ field: 'involvedObject.namespace', reason: 'FieldValueInvalid', message }]
}

export function validateLease(lease: ApiObject): FieldError[] {
  const spec = asRecord(lease['spec'])
  const errors: FieldError[] = []
  const seconds = spec['leaseDurationSeconds']
  if (typeof seconds === 'number' && seconds <= 0) {
    const message = `Invalid value: ${seconds}: must be greater than 0`
    errors.push({ field: 'spec.leaseDurationSeconds', reason: 'FieldValueInvalid', message })
  }
  const transitions = spec['leaseTransitions']
  if (typeof transitions === 'number' && transitions < 0) {
    const message = `Invalid value: ${transitions}: must be greater than or equal to 0`
    errors.push({ field: 'spec.leaseTransitions', reason: 'FieldValueInvalid', message })
  }
  return errors
}

/** protocols §1.6: the fields a server refuses, because it could not call such a webhook. */
export function validateWebhookConfiguration(configuration: ApiObject, old: ApiObject | undefined): FieldError[] {
  if (old !== undefined && jsonEqual(configuration['webhooks'], old['webhooks'])) return []
  return asArray(configuration['webhooks']).flatMap((entry, index) => {
    const webhook = asRecord(entry)
    const path = `webhooks[${index}]`
    const errors: FieldError[] = []
    const reject = (field: string, value: unknown, why: string) => {
      const message = `Invalid value: ${JSON.stringify(value)}: ${why}`
      errors.push({ field: `${path}.${field}`, reason: 'FieldValueInvalid', message })
    }
    const name = asString(webhook['name'])
    if (name.split('.').length < 3) {
      reject('name', name, 'should be a domain with at least three segments separated by dots')
    }
    const seconds = webhook['timeoutSeconds']
    if (typeof seconds === 'number' && (seconds < 1 || seconds > 30)) {
      reject('timeoutSeconds', seconds, 'the timeout value must be between 1 and 30 seconds')
    }
    if (!asArray(webhook['admissionReviewVersions']).includes('v1')) {
      reject('admissionReviewVersions', webhook['admissionReviewVersions'], 'must include at least one of v1, v1beta1')
    }
    const { url, service } = asRecord(webhook['clientConfig'])
    if ((url === undefined) === (service === undefined)) {
      const message = 'Required value: exactly one of url or service is required'
      errors.push({ field: `${path}.clientConfig`, reason: 'FieldValueRequired', message })
    } else if (typeof url === 'string') {
      for (const why of urlFaults(url)) reject('clientConfig.url', url, why)
    }
    return errors
  })
}

function urlFaults(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return ['url must be a valid URL; desired format: https://host[/path]']
  const faults: string[] = []
  if (url.protocol !== 'https:')
    faults.push(`'https' is the only allowed URL scheme; desired format: https://host[/path]`)
  if (url.username !== '' || url.password !== '') faults.push('user information is not permitted in the URL')
  if (url.hash !== '') faults.push('fragments are not permitted in the URL')
  if (url.search !== '') faults.push('query parameters are not permitted in the URL')
  return faults
}
