import type { Clock } from '../../ports/clock.ts'
import type { AdmissionAttributes, AdmissionChain } from '../core/admission-chain.ts'
import type { ApiObject } from '../core/api-object.ts'
import type { ControlPlaneCore } from '../core/control-plane-core.ts'
import { jsonEqual } from '../core/json.ts'
import { jsonPatch } from '../core/json-patch.ts'
import type { VersionOfType } from '../core/resource-type.ts'
import { internalError, StatusError } from '../core/status-error.ts'
import { type AdmissionReview, admissionReview } from './admission-review.ts'
import { askWebhook, type CallWebhook } from './call-webhook.ts'
import { denial } from './denial.ts'
import { matchWebhook } from './match-webhook.ts'
import { verifyResponse, type WebhookVerdict } from './verify-response.ts'
import { type Webhook, webhooksOf } from './webhook.ts'

export interface WebhookAdmissionOptions {
  core: Pick<ControlPlaneCore, 'get' | 'list'>
  clock: Clock
  /** A new uid for every call. */
  uid(): string
  callWebhook: CallWebhook
}

type Kind = 'mutating' | 'validating'

/** Asks the webhooks that are configured in the control plane itself, as the real server does (protocols §1.3–§1.8). */
export function createWebhookAdmission(options: WebhookAdmissionOptions): AdmissionChain {
  const { core, clock } = options
  const parsed = new WeakMap<ApiObject, Webhook[]>()

  return {
    mutate: (attributes) => mutate(attributes),
    async mutateDeletion(attributes) {
      for (const { webhook, version } of matching('mutating', attributes)) {
        const verdict = await ask('mutating', webhook, version, attributes)
        if (verdict?.patch !== undefined && verdict.patch.length > 0) {
          const why = 'attempted to modify the object, which is not supported for this operation'
          throw internalError(`admission webhook "${webhook.name}" ${why}`)
        }
      }
    },
    async validate(attributes) {
      const asked = matching('validating', attributes).map(({ webhook, version }) =>
        ask('validating', webhook, version, attributes),
      )
      const results = await Promise.allSettled(asked)
      const refused = results.find((result) => result.status === 'rejected')
      if (refused !== undefined) throw refused.reason
    },
  }

  /**
   * One after another. A change asks those who were asked before it and want to know once more: the whole chain runs
   * at most twice.
   */
  async function mutate(attributes: AdmissionAttributes & { object: ApiObject }): Promise<ApiObject> {
    let { object } = attributes
    const asked: Webhook[] = []
    const again = new Set<Webhook>()
    const webhooks = configured('mutating')
    for (const round of [0, 1] as const) {
      for (const webhook of webhooks) {
        if (round === 1 && !again.has(webhook)) continue
        const current = { ...attributes, object }
        const version = matchWebhook(webhook, current, () => namespaceLabels(current))
        if (version === undefined) continue
        const verdict = await ask('mutating', webhook, version, current)
        const patched = patchedObject(object, verdict, current)
        if (!jsonEqual(patched, object)) {
          for (const one of asked) again.add(one)
          object = patched
        }
        if (webhook.reinvoked) asked.push(webhook)
      }
    }
    return object
  }

  function patchedObject(
    object: ApiObject,
    verdict: WebhookVerdict | undefined,
    { decode }: AdmissionAttributes,
  ): ApiObject {
    if (verdict?.patch === undefined) return object
    try {
      return decode(jsonPatch(object, verdict.patch))
    } catch (error) {
      // Not covered by the failurePolicy (protocols §1.3).
      throw internalError(error instanceof Error ? error.message : String(error))
    }
  }

  function configured(kind: Kind): Webhook[] {
    const plural = `${kind}webhookconfigurations`
    const { items } = core.list({ group: 'admissionregistration.k8s.io', version: 'v1', plural })
    return items.flatMap((configuration) => {
      const known = parsed.get(configuration) ?? webhooksOf(configuration)
      parsed.set(configuration, known)
      return known
    })
  }

  function matching(kind: Kind, attributes: AdmissionAttributes): { webhook: Webhook; version: VersionOfType }[] {
    return configured(kind).flatMap((webhook) => {
      const version = matchWebhook(webhook, attributes, () => namespaceLabels(attributes))
      return version === undefined ? [] : [{ webhook, version }]
    })
  }

  /** Of the namespace the object lies in; a namespace being created or changed brings its own. */
  function namespaceLabels({ type, namespace, object, oldObject }: AdmissionAttributes): Record<string, string> {
    if (!type.namespaced) return (object ?? oldObject)?.metadata.labels ?? {}
    return core.get({ group: '', version: 'v1', plural: 'namespaces', name: namespace }).metadata.labels ?? {}
  }

  /** `undefined` when the webhook could not be asked and its failure is ignored. */
  async function ask(
    kind: Kind,
    webhook: Webhook,
    version: VersionOfType,
    attributes: AdmissionAttributes,
  ): Promise<WebhookVerdict | undefined> {
    const left = attributes.deadline - clock.now()
    if (left <= 0) throw requestTimedOut()
    const review = admissionReview(attributes, version, options.uid())
    const verdict = await verdictOf(kind, webhook, review, Math.min(webhook.timeoutMs, left), attributes)
    for (const warning of verdict?.warnings ?? []) attributes.warn(warning)
    if (verdict !== undefined && !verdict.allowed) throw denial(webhook.name, verdict.status)
    return verdict
  }

  async function verdictOf(
    kind: Kind,
    webhook: Webhook,
    review: AdmissionReview,
    timeoutMs: number,
    attributes: AdmissionAttributes,
  ): Promise<WebhookVerdict | undefined> {
    try {
      const body = await askWebhook(webhook, review, timeoutMs, clock, options.callWebhook)
      return verifyResponse(body, review.request.uid, kind)
    } catch (error) {
      // A timer may go off a millisecond early.
      if (clock.now() >= attributes.deadline - 1) throw requestTimedOut()
      if (webhook.ignoresFailure) return undefined
      const why = error instanceof Error ? error.message : String(error)
      throw internalError(`failed calling webhook "${webhook.name}": ${why}`)
    }
  }
}

/** Even with `failurePolicy: Ignore` (protocols §1.6). */
function requestTimedOut(): StatusError {
  const message = 'Timeout: request did not complete within requested timeout - context deadline exceeded'
  return new StatusError(504, 'Timeout', message)
}
