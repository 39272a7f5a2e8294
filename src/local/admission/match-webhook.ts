import type { AdmissionAttributes } from '../core/admission-chain.ts'
import type { VersionOfType } from '../core/resource-type.ts'
import type { Webhook, WebhookRule } from './webhook.ts'

const CONFIGURATIONS = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
])

/**
 * The version in which the webhook is asked about this request, or `undefined` when it is not asked.
 * `matchConditions` are CEL and not evaluated: they count as true.
 */
export function matchWebhook(
  webhook: Webhook,
  attributes: AdmissionAttributes,
  namespaceLabels: () => Record<string, string>,
): VersionOfType | undefined {
  const { type } = attributes
  // A configuration cannot lock out its own repair (protocols §1.6).
  if (type.group === 'admissionregistration.k8s.io' && CONFIGURATIONS.has(type.plural)) return undefined
  const version = versionAskedFor(webhook, attributes)
  if (version === undefined) return undefined
  if (hasNamespace(attributes) && !webhook.selectsNamespace(namespaceLabels())) return undefined
  const candidates = [attributes.object, attributes.oldObject].filter((object) => object !== undefined)
  return candidates.some(({ metadata }) => webhook.selectsObject(metadata.labels ?? {})) ? version : undefined
}

function versionAskedFor(webhook: Webhook, attributes: AdmissionAttributes): VersionOfType | undefined {
  const matches = (version: VersionOfType) => webhook.rules.some((rule) => matchesRule(rule, attributes, version))
  if (matches(attributes.version)) return attributes.version
  if (!webhook.matchesEquivalent) return undefined
  return attributes.type.versions.find((version) => version.served && matches(version))
}

function matchesRule(rule: WebhookRule, attributes: AdmissionAttributes, version: VersionOfType): boolean {
  const { operation, type } = attributes
  return (
    contains(rule.operations, operation) &&
    contains(rule.groups, type.group) &&
    contains(rule.versions, version.name) &&
    matchesScope(rule.scope, attributes) &&
    rule.resources.some((resource) => matchesResource(resource, attributes))
  )
}

function contains(values: string[], value: string): boolean {
  return values.includes('*') || values.includes(value)
}

/** A Namespace counts as cluster-scoped. */
function matchesScope(scope: string, { type }: AdmissionAttributes): boolean {
  return scope === '*' || scope === (type.namespaced ? 'Namespaced' : 'Cluster')
}

/** `pods`, `pods/status`, `*` (every resource, no subresource), `pods/*`, or either side a star. */
function matchesResource(pattern: string, { type, subresource }: AdmissionAttributes): boolean {
  const [resource, wanted = ''] = pattern.split('/')
  return (resource === '*' || resource === type.plural) && (wanted === '*' || wanted === subresource)
}

/** Cluster-scoped objects have no labels of a namespace to select by, so they always match; a Namespace has its own. */
function hasNamespace({ type }: AdmissionAttributes): boolean {
  return type.namespaced || (type.group === '' && type.plural === 'namespaces')
}
