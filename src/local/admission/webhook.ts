import type { ApiObject } from '../core/api-object.ts'
import { asArray, asRecord, asString, type JsonRecord } from '../core/json.ts'
import { type LabelSelector, objectLabelSelector } from '../core/label-selector.ts'

/** One webhook of a configuration, with the defaults filled in. */
export interface Webhook {
  name: string
  url: string
  /** PEM; empty for the system's roots. */
  caBundle: string
  rules: WebhookRule[]
  ignoresFailure: boolean
  /** `matchPolicy: Equivalent`: other versions of the same resource count as well. */
  matchesEquivalent: boolean
  selectsNamespace: LabelSelector
  selectsObject: LabelSelector
  timeoutMs: number
  reinvoked: boolean
}

export interface WebhookRule {
  operations: string[]
  groups: string[]
  versions: string[]
  resources: string[]
  scope: string
}

/** The webhooks of a Mutating- or ValidatingWebhookConfiguration, in their order. */
export function webhooksOf(configuration: ApiObject): Webhook[] {
  return asArray(configuration['webhooks']).map((entry) => webhookOf(asRecord(entry)))
}

function webhookOf(webhook: JsonRecord): Webhook {
  const clientConfig = asRecord(webhook['clientConfig'])
  const seconds = webhook['timeoutSeconds']
  return {
    name: asString(webhook['name']),
    url: urlOf(clientConfig),
    caBundle: Buffer.from(asString(clientConfig['caBundle']), 'base64').toString(),
    rules: asArray(webhook['rules']).map((rule) => ruleOf(asRecord(rule))),
    ignoresFailure: webhook['failurePolicy'] === 'Ignore',
    matchesEquivalent: webhook['matchPolicy'] !== 'Exact',
    selectsNamespace: objectLabelSelector(asRecord(webhook['namespaceSelector'])),
    selectsObject: objectLabelSelector(asRecord(webhook['objectSelector'])),
    timeoutMs: (typeof seconds === 'number' ? seconds : 10) * 1000,
    reinvoked: webhook['reinvocationPolicy'] === 'IfNeeded',
  }
}

function urlOf(clientConfig: JsonRecord): string {
  if (typeof clientConfig['url'] === 'string') return cleanUrl(clientConfig['url'])
  const { name, namespace, port, path } = asRecord(clientConfig['service'])
  const suffix = asString(path).replace(/^\/?/, '/')
  return cleanUrl(
    `https://${asString(name)}.${asString(namespace)}.svc:${typeof port === 'number' ? port : 443}${suffix}`,
  )
}

/** The API server joins the path anew: no slash at its end, none twice. */
function cleanUrl(text: string): string {
  if (!URL.canParse(text)) return text
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '')}`
}

function ruleOf(rule: JsonRecord): WebhookRule {
  const texts = (field: string) => asArray(rule[field]).map(asString)
  return {
    operations: texts('operations'),
    groups: texts('apiGroups'),
    versions: texts('apiVersions'),
    resources: texts('resources'),
    scope: asString(rule['scope']) || '*',
  }
}
