import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
import type { Node } from '../domain/node.ts'
import type { Service } from '../domain/service.ts'
import type { Logger } from '../ports/logger.ts'
import type { CloudLoadBalancer } from '../provider/cloud.ts'
import type {
  BalancerIdentity,
  BalancerRecord,
  BalancerResult,
  ListedBalancer,
  LoadBalancer,
  MCSLoadBalancer,
  ProviderContext,
} from '../provider/multicluster.ts'
import type { Provider } from '../provider/provider.ts'
import { backendsOf } from './sample-backends.ts'

/** One call, whatever the interface: what it is about, and which state is asked for. */
export interface BalancerRequest {
  identity: BalancerIdentity
  /** Another number asks for other backends (hosts, under one cluster), under another fingerprint. */
  revision: number
  signal: AbortSignal
}

/** The three interfaces as one: a check is written once. */
export interface TestedBalancer {
  kind: BalancerIdentity['kind']
  get(request: BalancerRequest): Promise<BalancerRecord | undefined>
  ensure(request: BalancerRequest): Promise<BalancerResult>
  update(request: BalancerRequest): Promise<BalancerResult>
  delete(request: BalancerRequest): Promise<void>
  /** The object is gone: only the identity is known. */
  deleteGone(request: BalancerRequest): Promise<void>
  list: ((clusterId: string, signal: AbortSignal) => Promise<ListedBalancer[]>) | undefined
  validate: ((identity: BalancerIdentity) => unknown) | undefined
  /** Methods that changed what was handed to them. */
  changedArguments(): readonly string[]
}

const CLUSTER = 'kubernetes'
const WEB_PORT = 80

export function fingerprintOf(revision: number): string {
  return `conformance-${revision}`
}

/** What the provider implements; nothing for one that implements nothing. */
export function testedBalancers({ loadBalancer, mcsLoadBalancer, cloudProvider }: Provider): TestedBalancer[] {
  const ofServices = cloudProvider?.loadBalancer()
  return [
    ...(loadBalancer === undefined ? [] : [ofIngresses(loadBalancer)]),
    ...(mcsLoadBalancer === undefined ? [] : [ofMultiClusterServices(mcsLoadBalancer)]),
    ...(ofServices === undefined ? [] : [ofCluster(ofServices)]),
  ]
}

function ofIngresses(balancer: LoadBalancer): TestedBalancer {
  const { watch, changedArguments } = argumentWatch()
  return {
    kind: 'MultiClusterIngress',
    get: (request) =>
      watch('getLoadBalancer', [ingressOf(request), reading(request)], (args) => balancer.getLoadBalancer(...args)),
    ensure: (request) =>
      watch('ensureLoadBalancer', [ingressOf(request), making(request)], (args) =>
        balancer.ensureLoadBalancer(...args),
      ),
    update: (request) =>
      watch('updateLoadBalancer', [ingressOf(request), making(request)], (args) =>
        balancer.updateLoadBalancer(...args),
      ),
    delete: (request) =>
      watch('ensureLoadBalancerDeleted', [ingressOf(request), reading(request)], (args) =>
        balancer.ensureLoadBalancerDeleted(...args),
      ),
    deleteGone: (request) =>
      watch('ensureLoadBalancerDeleted', [undefined, reading(request)], (args) =>
        balancer.ensureLoadBalancerDeleted(...args),
      ),
    list:
      balancer.listLoadBalancers &&
      (async (clusterId, signal) => (await balancer.listLoadBalancers?.({ clusterId, signal, logger })) ?? []),
    validate: balancer.validate && ((identity) => balancer.validate?.(ingressOf({ identity, revision: 1 }))),
    changedArguments,
  }
}

function ofMultiClusterServices(balancer: MCSLoadBalancer): TestedBalancer {
  const { watch, changedArguments } = argumentWatch()
  return {
    kind: 'MultiClusterService',
    get: (request) =>
      watch('getMCSLoadBalancer', [mcsOf(request), reading(request)], (args) => balancer.getMCSLoadBalancer(...args)),
    ensure: (request) =>
      watch('ensureMCSLoadBalancer', [mcsOf(request), making(request)], (args) =>
        balancer.ensureMCSLoadBalancer(...args),
      ),
    update: (request) =>
      watch('updateMCSLoadBalancer', [mcsOf(request), making(request)], (args) =>
        balancer.updateMCSLoadBalancer(...args),
      ),
    delete: (request) =>
      watch('ensureMCSLoadBalancerDeleted', [mcsOf(request), reading(request)], (args) =>
        balancer.ensureMCSLoadBalancerDeleted(...args),
      ),
    deleteGone: (request) =>
      watch('ensureMCSLoadBalancerDeleted', [undefined, reading(request)], (args) =>
        balancer.ensureMCSLoadBalancerDeleted(...args),
      ),
    list:
      balancer.listMCSLoadBalancers &&
      (async (clusterId, signal) => (await balancer.listMCSLoadBalancers?.({ clusterId, signal, logger })) ?? []),
    validate: balancer.validate && ((identity) => balancer.validate?.(mcsOf({ identity, revision: 1 }))),
    changedArguments,
  }
}

function ofCluster(balancer: CloudLoadBalancer): TestedBalancer {
  const { watch, changedArguments } = argumentWatch()
  return {
    kind: 'Service',
    get: (request) =>
      watch('getLoadBalancer', [CLUSTER, serviceOf(request), ofService(request)], (args) =>
        balancer.getLoadBalancer(...args),
      ),
    ensure: (request) =>
      watch(
        'ensureLoadBalancer',
        [CLUSTER, serviceOf(request), nodesOf(request), ofService(request)],
        async (args) => (await balancer.ensureLoadBalancer(...args)) ?? {},
      ),
    update: (request) =>
      watch(
        'updateLoadBalancer',
        [CLUSTER, serviceOf(request), nodesOf(request), ofService(request)],
        async (args) => (await balancer.updateLoadBalancer(...args)) ?? {},
      ),
    delete: (request) =>
      watch('ensureLoadBalancerDeleted', [CLUSTER, serviceOf(request), ofService(request)], (args) =>
        balancer.ensureLoadBalancerDeleted(...args),
      ),
    deleteGone: (request) =>
      watch('ensureLoadBalancerDeleted', [CLUSTER, undefined, ofService(request)], (args) =>
        balancer.ensureLoadBalancerDeleted(...args),
      ),
    list:
      balancer.listLoadBalancers &&
      (async (clusterId, signal) => (await balancer.listLoadBalancers?.(CLUSTER, { clusterId, signal, logger })) ?? []),
    validate: balancer.validate && ((identity) => balancer.validate?.(serviceOf({ identity }), {})),
    changedArguments,
  }
}

/** Compares what was handed over with what it was, after the call; the signal and the logger aside. */
function argumentWatch() {
  const changed = new Set<string>()
  const textOf = (args: readonly unknown[]) =>
    JSON.stringify(args, (name, value) => (name === 'signal' || name === 'logger' ? undefined : value))
  return {
    changedArguments: () => [...changed],
    async watch<const A extends readonly unknown[], T>(
      method: string,
      args: A,
      call: (args: A) => Promise<T>,
    ): Promise<T> {
      const before = textOf(args)
      try {
        return await call(args)
      } finally {
        if (textOf(args) !== before) changed.add(method)
      }
    },
  }
}

/** Hosts and ports differ from identity to identity: on one address, two objects cannot have the same. */
function hostOf({ clusterId, namespace, name, uid }: BalancerIdentity, revision: number): string {
  return `${name}-${revision}.${uid}.${namespace}.${clusterId}.example.com`
}

function portOf({ clusterId, namespace, name, uid }: BalancerIdentity): number {
  const text = [clusterId, namespace, name, uid].join('/')
  const hash = [...text].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 999_983, 7)
  return 10_000 + (hash % 20_000)
}

function metadataOf({ namespace, name, uid }: BalancerIdentity) {
  return { namespace, name, uid, resourceVersion: '1' }
}

function ingressOf({ identity, revision }: Pick<BalancerRequest, 'identity' | 'revision'>): MultiClusterIngress {
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: metadataOf(identity),
    spec: {
      rules: [
        {
          host: hostOf(identity, revision),
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: WEB_PORT } } } },
            ],
          },
        },
      ],
    },
  }
}

function mcsOf({ identity }: Pick<BalancerRequest, 'identity' | 'revision'>): MultiClusterService {
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterService',
    metadata: metadataOf(identity),
    spec: { types: ['LoadBalancer'], ports: [{ name: 'http', port: portOf(identity) }] },
  }
}

function serviceOf({ identity }: Pick<BalancerRequest, 'identity'>): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(identity),
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.17',
      ipFamilies: ['IPv4'],
      externalTrafficPolicy: 'Cluster',
      ports: [{ name: 'http', port: portOf(identity), protocol: 'TCP', targetPort: 8080, nodePort: 30_080 }],
    } as NonNullable<Service['spec']>,
  }
}

/** One more with each revision. */
function nodesOf({ revision }: BalancerRequest): Node[] {
  return Array.from({ length: revision }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${index + 1}`, uid: `node-${index + 1}` },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: `10.0.0.${index + 1}` }],
    },
  })) as Node[]
}

const logger: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger }

function reading({ identity, signal }: BalancerRequest): ProviderContext {
  return {
    signal,
    logger,
    identity: { ...identity },
    fence: '1',
    backends: { services: [] },
    certificates: [],
    fingerprint: '',
  }
}

function making(request: BalancerRequest): ProviderContext {
  const { identity, revision } = request
  return {
    ...reading(request),
    backends: backendsOf({
      namespace: identity.namespace,
      ...(identity.kind === 'MultiClusterIngress'
        ? { name: 'web', port: WEB_PORT }
        : { name: identity.name, port: portOf(identity) }),
      revision,
    }),
    fingerprint: fingerprintOf(revision),
  }
}

function ofService({ identity, revision, signal }: BalancerRequest) {
  return {
    signal,
    logger,
    clusterId: identity.clusterId,
    identity: { ...identity },
    fence: '1',
    options: {},
    sourceRanges: ['0.0.0.0/0'],
    healthCheck: undefined,
    fingerprint: fingerprintOf(revision),
  }
}
