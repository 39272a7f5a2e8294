import { isOurWebhook } from '../webhook-configuration.ts'

/** admissionregistration.k8s.io/v1, either kind: what the doctor looks at. */
export interface Webhook {
  name: string
  clientConfig?: WebhookAddress & { caBundle?: string }
  failurePolicy?: string
  timeoutSeconds?: number
  rules?: readonly WebhookRule[]
  [field: string]: unknown
}

interface WebhookRule {
  apiGroups?: readonly string[]
  resources?: readonly string[]
  operations?: readonly string[]
}

interface WebhookAddress {
  url?: string
  service?: { namespace: string; name: string; path?: string; port?: number }
}

export interface RegisteredWebhook {
  /** `MutatingWebhookConfiguration` or `ValidatingWebhookConfiguration`. */
  kind: string
  /** Of the configuration. */
  configuration: string
  webhook: Webhook
}

export function isOurs({ webhook }: RegisteredWebhook): boolean {
  return isOurWebhook(webhook.name)
}

/** Where the API server calls: a Service by the name that its certificate must have. `prefix` may be a secret. */
export interface DoorAddress {
  host: string
  port: number
  /** Before `/admission/…`. */
  prefix: string
  /** From `/admission/` on. */
  path: string
}

/** Undefined for an address that is none. */
export function addressOf({ clientConfig = {} }: Webhook): DoorAddress | undefined {
  const { url, service } = clientConfig
  if (service !== undefined) {
    const { namespace, name, port = 443, path = '' } = service
    return { host: `${name}.${namespace}.svc`, port, ...splitPath(path) }
  }
  if (url === undefined || !URL.canParse(url)) return undefined
  const { hostname, port, pathname } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443), ...splitPath(pathname) }
}

function splitPath(whole: string): { prefix: string; path: string } {
  const at = whole.lastIndexOf('/admission/')
  return at < 0 ? { prefix: whole, path: '' } : { prefix: whole.slice(0, at), path: whole.slice(at) }
}
