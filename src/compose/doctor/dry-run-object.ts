import type { Config } from '../../config/config.ts'
import { DOCTOR_ANNOTATION } from '../../domain/doctor/door-note.ts'
import { apiVersionOf, type Kind, RESOURCES } from '../../domain/kinds.ts'
import { SERVICE_FINALIZER } from '../../domain/service-balancer/service-standing.ts'
import type { Provider } from '../../provider/provider.ts'
import { controllerStates } from '../cloud-controllers.ts'
import { servedCloud } from '../served-cloud.ts'

export interface DryRunObject {
  kind: Kind
  object: { metadata: { name: string; namespace: string } }
  /** What the mutate door adds to it; undefined where it has nothing to add. */
  finalizer: string | undefined
}

const PORT = 80

/** An object that is ours, good, and marked: sent in dry runs only. */
export function dryRunObject(config: Config, provider: Provider | undefined, namespace: string): DryRunObject {
  const cloud = provider && servedCloud(config, provider)
  if (cloud !== undefined)
    return service(config, namespace, controllerStates(cloud, config)['service-lb-controller'].runs)
  if (config.controlPlane === 'kubernetes') return service(config, namespace, false)
  const balancesIngresses = provider === undefined || provider.loadBalancer !== undefined
  return balancesIngresses ? ingress(config, namespace) : multiClusterService(config, namespace)
}

function ingress({ ingressClass, finalizer }: Config, namespace: string): DryRunObject {
  const [className] = ingressClass.names
  const spec = {
    ...(className === undefined ? {} : { ingressClassName: className }),
    defaultBackend: { service: { name: 'doctor', port: { number: PORT } } },
  }
  return {
    ...marked('MultiClusterIngress', namespace, spec),
    finalizer: className === undefined ? undefined : finalizer,
  }
}

function multiClusterService({ multiClusterServices, finalizer }: Config, namespace: string): DryRunObject {
  const { matchLabels = {}, matchExpressions = [] } = multiClusterServices.selector
  const spec = { types: ['LoadBalancer'], ports: [{ name: 'http', port: PORT }] }
  return {
    ...marked('MultiClusterService', namespace, spec, matchLabels),
    finalizer: matchExpressions.length > 0 ? undefined : finalizer,
  }
}

function service({ cloud }: Config, namespace: string, isServed: boolean): DryRunObject {
  const { loadBalancerClass } = cloud
  const spec = {
    type: 'LoadBalancer',
    ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
    ports: [{ name: 'http', port: PORT, protocol: 'TCP' }],
    selector: { app: 'doctor' },
  }
  return { ...marked('Service', namespace, spec), finalizer: isServed ? SERVICE_FINALIZER : undefined }
}

function marked(kind: Kind, namespace: string, spec: object, labels: Record<string, string> = {}) {
  const metadata = {
    name: 'webhook-cloud-provider-doctor',
    namespace,
    labels,
    annotations: { [DOCTOR_ANNOTATION]: 'dry-run' },
  }
  return { kind, object: { apiVersion: apiVersionOf(kind), kind, metadata, spec } }
}

/** The same object in a review, as the API server would send it. */
export function reviewOf({ kind, object }: DryRunObject): object {
  const { group, version, plural } = RESOURCES[kind]
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '00000000-0000-4000-8000-000000000000',
      kind: { group, version, kind },
      resource: { group, version, resource: plural },
      ...object.metadata,
      labels: undefined,
      annotations: undefined,
      operation: 'CREATE',
      userInfo: { username: 'doctor', groups: [] },
      object,
      oldObject: null,
      dryRun: true,
      options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions', dryRun: ['All'] },
    },
  }
}
