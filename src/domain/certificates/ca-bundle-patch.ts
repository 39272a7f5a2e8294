import type { JsonPatchOperation } from '../json-patch.ts'
import { isOurWebhook, type WebhookConfiguration } from '../webhook-configuration.ts'

/**
 * Puts the bundle (base64) where a webhook of ours has another; nothing where all have it. Each place is tested for its
 * webhook's name, so that in a list that was reordered meanwhile no other webhook is hit.
 */
export function caBundlePatch({ webhooks = [] }: WebhookConfiguration, caBundle: string): JsonPatchOperation[] {
  return webhooks.flatMap(({ name, clientConfig }, index): JsonPatchOperation[] => {
    if (!isOurWebhook(name) || clientConfig.caBundle === caBundle) return []
    return [
      { op: 'test', path: `/webhooks/${index}/name`, value: name },
      { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
    ]
  })
}

// What cert-manager's injector looks for: it would put its own bundle back.
const INJECTED = /^cert-manager\.io\/inject-/

/** Whether somebody else keeps the bundle of this configuration. */
export function isInjectedByAnother({ metadata }: WebhookConfiguration): boolean {
  return Object.keys(metadata.annotations ?? {}).some((name) => INJECTED.test(name))
}
