import type { KubernetesObject } from './kubernetes-object.ts'

/** MutatingWebhookConfiguration or ValidatingWebhookConfiguration, as far as we look at them. */
export interface WebhookConfiguration extends KubernetesObject {
  webhooks?: Webhook[]
}

interface Webhook {
  name: string
  clientConfig: {
    url?: string
    /** Base64 of PEM: who signs the certificate of the one that is called. */
    caBundle?: string
  }
}

/** As the manifests name both configurations. */
export const OUR_CONFIGURATION = 'webhook-cloud-provider'

/** Webhooks of this project are named `<what>.webhook-cloud-provider.dev`. */
export function isOurWebhook(name: string): boolean {
  return name.endsWith('.webhook-cloud-provider.dev')
}
