import { FINALIZER_PREFIX } from '../domain/finalizers.ts'
import { cloudWebhookConfigurations } from './cloud-webhook-configurations.ts'
import { webhookConfigurations } from './webhook-configurations.ts'

/** Where a half of an installation goes: to the cluster in which pods run, or to Karmada's own API server. */
export type Target = 'host' | 'karmada'

export interface Overlay {
  /** Below `manifests/overlays`, and what they are rendered to, below `manifests`. */
  targets: Partial<Record<Target, { folder: string; rendered: string }>>
  /** Where the API server calls the function; without one, its Service in the same cluster. */
  url?: string
}

/** The name of ServiceAccount, Deployment, Service and of their namespace, as they are in `manifests/`. */
export const NAME = 'webhook-cloud-provider'

export const OVERLAYS = {
  'karmada-knative': {
    targets: {
      host: { folder: 'karmada-knative/host', rendered: 'rendered/karmada-knative-host.yaml' },
      karmada: { folder: 'karmada-knative/karmada', rendered: 'rendered/karmada-knative-karmada.yaml' },
    },
    url: 'https://webhook-cloud-provider.example.com',
  },
  'karmada-deployment': {
    targets: {
      host: { folder: 'karmada-deployment/host', rendered: 'rendered/karmada-deployment-host.yaml' },
      karmada: { folder: 'karmada-deployment/karmada', rendered: 'rendered/karmada-deployment-karmada.yaml' },
    },
    url: `https://${NAME}.${NAME}.svc`,
  },
  'kubernetes-ccm': { targets: { host: { folder: 'kubernetes-ccm', rendered: 'kubernetes-ccm.yaml' } } },
  local: {
    targets: { karmada: { folder: 'local', rendered: 'rendered/local.yaml' } },
    url: 'https://127.0.0.1:8443',
  },
} as const satisfies Record<string, Overlay>

export type OverlayName = keyof typeof OVERLAYS

/** What differs from installation to installation; what is undefined stays as it is in `manifests/`. */
export interface InstallationSettings {
  /** With a path, that is the secret before every door. */
  url?: string | undefined
  /** The authority of the function's certificate, PEM. */
  caPem?: string | undefined
  /** Of IngressClasses; under one cluster at most one, the loadBalancerClass of Services. */
  classes: readonly string[]
  image?: string | undefined
  namespace: string
  provider?: string | undefined
}

/** As `manifests/` has them. */
export const AS_THEY_ARE: InstallationSettings = { classes: [], namespace: NAME }

/** The provider that the Karmada overlays are written for. */
const KARMADA_PROVIDER = 'fake'

/** Our name among finalizers, and the controller of our IngressClasses. */
export function finalizerOf({ provider = KARMADA_PROVIDER }: InstallationSettings): string {
  return `${FINALIZER_PREFIX}${provider}`
}

/** The webhook configurations of an installation, as its API server is to have them. */
export function overlayWebhooks(name: OverlayName, settings: InstallationSettings) {
  const { caPem, namespace, classes } = settings
  const identity = `system:serviceaccount:${namespace}:${NAME}`
  const { url: standard }: Overlay = OVERLAYS[name]
  const url = settings.url ?? standard?.replace(`.${NAME}.svc`, `.${namespace}.svc`)
  if (name !== 'kubernetes-ccm')
    return webhookConfigurations({
      url: url ?? '',
      caPem,
      finalizer: finalizerOf(settings),
      identity,
      namespace,
    })
  const at = url === undefined ? { service: { namespace, name: NAME, port: 443 } } : { url }
  return cloudWebhookConfigurations({ at, caPem, identity, namespace, loadBalancerClass: classes[0] })
}
