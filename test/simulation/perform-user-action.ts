import type { EndpointSlice } from '../../src/domain/endpoint-slice.ts'
import type { Kind } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import {
  buildClass,
  buildIngress,
  buildService,
  buildServiceWorld,
  buildSlice,
  DEFAULT_CLASS,
} from '../support/build-objects.ts'
import type { BalancedName, UserAction } from './history.ts'
import { FINALIZER } from './sim-config.ts'
import {
  FOREIGN_FINALIZER,
  GO_FINALIZERS,
  kindOfName,
  OTHER_CLASS,
  OUR_CLASS,
  readObject,
  SECOND_CLASS,
  targetOf,
} from './sim-objects.ts'

const USER = { user: { username: 'somebody', groups: ['system:authenticated'] } }

/** As the administrator of the control plane does it. What is refused was not done. */
export function performUserAction(action: UserAction, core: ControlPlaneCore): Promise<unknown> {
  const patch = (kind: Kind, name: string, body: object, subresource?: 'status') =>
    core.patch(
      { ...targetOf(kind, name), ...(subresource === undefined ? {} : { subresource }) },
      { type: 'merge', body },
      USER,
    )
  const remove = (kind: Kind, name: string) => core.delete(targetOf(kind, name), USER)
  const create = (object: KubernetesObject) => core.create(targetOf(object.kind as Kind), object, USER)

  switch (action.do) {
    case 'create':
      return create(newObject(action.name, action.as))
    case 'spec':
      return action.name === 'game'
        ? patch('MultiClusterService', 'game', { spec: { consumerClusters: [{ name: `edge-${action.value}` }] } })
        : patch('MultiClusterIngress', action.name, { spec: { rules: rulesFor(action.value) } })
    case 'annotate':
      return patch(kindOfName(action.name), action.name, {
        metadata: { annotations: { 'example.com/weight': String(action.value) } },
      })
    case 'label':
      return patch(kindOfName(action.name), action.name, { metadata: { labels: { team: `t${action.value}` } } })
    case 'class':
      return patch(kindOfName(action.name), action.name, { spec: classSpec(action.name, action.to) })
    case 'delete':
      return remove(kindOfName(action.name), action.name)
    case 'strip':
      return patchFinalizers(action.name, core, (finalizers) => finalizers.filter((name) => name !== FINALIZER))
    case 'vanish':
      return vanish(action.name, core)
    case 'foreignFinalizer':
      return patchFinalizers(action.name, core, (finalizers) => {
        const others = finalizers.filter((name) => name !== FOREIGN_FINALIZER)
        if (action.how === 'none') return others
        return action.how === 'first' ? [FOREIGN_FINALIZER, ...others] : [...others, FOREIGN_FINALIZER]
      })
    case 'status':
      return patch(kindOfName(action.name), action.name, { status: statusFor(action.name, action.how) }, 'status')
    case 'ingressClass': {
      const name = action.which === 'ours' ? OUR_CLASS : SECOND_CLASS
      if (action.how === 'absent') return remove('IngressClass', name)
      const annotations = action.how === 'default' ? DEFAULT_CLASS : {}
      if (readObject(core, 'IngressClass', name) === undefined)
        return create(buildClass({ metadata: { name, annotations } }))
      const mark = action.how === 'default' ? 'true' : null
      return patch('IngressClass', name, {
        metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': mark } },
      })
    }
    case 'slice':
      return changeSlice(action, core, { patch, remove, create })
    case 'binding': {
      const clusters = ['edge-a', 'edge-b'].slice(0, action.clusters).map((name) => ({ name }))
      return patch('ResourceBinding', `${action.service}-service`, { spec: { clusters } })
    }
    case 'service':
      if (action.how === 'absent') return remove('Service', action.service)
      if (readObject(core, 'Service', action.service) === undefined) {
        const [service] = buildServiceWorld(action.service)
        return service === undefined ? Promise.resolve() : create(service)
      }
      return patch('Service', action.service, {
        metadata: { annotations: { touched: action.how === 'annotated' ? 'yes' : null } },
      })
    case 'cluster':
      return patch(
        'Cluster',
        action.cluster,
        { status: { remedyActions: action.blocked ? ['TrafficControl'] : [] } },
        'status',
      )
  }
}

function newObject(name: BalancedName, as: Extract<UserAction, { do: 'create' }>['as']): KubernetesObject {
  const metadata = {
    name,
    ...(as === 'foreign' ? { finalizers: [FOREIGN_FINALIZER], labels: { team: 'web' } } : {}),
    ...(as === 'claimed' ? { finalizers: [GO_FINALIZERS[name === 'game' ? 1 : 0] ?? ''] } : {}),
  }
  const to = as === 'default' || as === 'another' ? as : 'ours'
  const object = name === 'game' ? buildService({ metadata }) : buildIngress({ metadata })
  const spec: Record<string, unknown> = { ...object.spec, ...classSpec(name, to) }
  if (spec['ingressClassName'] === null) delete spec['ingressClassName']
  return { ...object, spec } as unknown as KubernetesObject
}

function classSpec(name: BalancedName, to: 'ours' | 'default' | 'another' | 'missing'): Record<string, unknown> {
  if (name === 'game') return { types: [to === 'another' || to === 'missing' ? 'CrossCluster' : 'LoadBalancer'] }
  const names = { ours: OUR_CLASS, default: null, another: OTHER_CLASS, missing: 'not-there' }
  return { ingressClassName: names[to] }
}

function rulesFor(value: number): unknown {
  const backend = { service: { name: 'web', port: { number: 80 } } }
  return value === 0 ? null : [{ http: { paths: [{ path: `/p${value}`, pathType: 'Prefix', backend }] } }]
}

function statusFor(name: BalancedName, how: 'wrong' | 'cleared' | 'foreign'): unknown {
  if (how === 'wrong') return { loadBalancer: { ingress: [{ ip: '203.0.113.99' }] } }
  if (how === 'cleared' || name !== 'game') return { loadBalancer: null }
  const lastTransitionTime = '2026-03-01T08:00:00Z'
  return {
    conditions: [{ type: 'ServiceApplied', status: 'True', reason: 'Applied', message: 'applied', lastTransitionTime }],
  }
}

/** Reads and writes as kubectl edit does: refused when somebody else was faster. */
async function patchFinalizers(
  name: BalancedName,
  core: ControlPlaneCore,
  change: (finalizers: string[]) => string[],
): Promise<void> {
  const kind = kindOfName(name)
  const object = readObject(core, kind, name)
  if (object === undefined) return
  const { resourceVersion, finalizers = [] } = object.metadata
  const body = { metadata: { resourceVersion, finalizers: change(finalizers) } }
  await core.patch(targetOf(kind, name), { type: 'merge', body }, USER)
}

async function vanish(name: BalancedName, core: ControlPlaneCore): Promise<void> {
  await core.delete(targetOf(kindOfName(name), name), USER)
  await patchFinalizers(name, core, () => [])
}

interface Writes {
  patch(kind: Kind, name: string, body: object): Promise<unknown>
  remove(kind: Kind, name: string): Promise<unknown>
  create(object: KubernetesObject): Promise<unknown>
}

function changeSlice(
  { service, cluster, hosts }: Extract<UserAction, { do: 'slice' }>,
  core: ControlPlaneCore,
  { patch, remove, create }: Writes,
): Promise<unknown> {
  const addresses = Array.from({ length: hosts }, (_, index) => `10.9.${hosts}.${index + 1}`)
  const slice: EndpointSlice = buildSlice({ service, cluster, endpoints: [] })
  const ready = { ready: true, serving: true, terminating: false }
  slice.endpoints = addresses.map((address) => ({ addresses: [address], conditions: ready }))
  const { name } = slice.metadata
  const exists = readObject(core, 'EndpointSlice', name) !== undefined
  if (hosts === 0) return exists ? remove('EndpointSlice', name) : Promise.resolve()
  return exists ? patch('EndpointSlice', name, { endpoints: slice.endpoints ?? [] }) : create(slice)
}
