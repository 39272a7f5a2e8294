import type { KubernetesObject } from '../../../src/domain/kubernetes-object.ts'
import type { Node } from '../../../src/domain/node.ts'
import type { Service } from '../../../src/domain/service.ts'
import type { ControlPlaneCore } from '../../../src/local/core/control-plane-core.ts'
import {
  buildJoiningNode,
  buildMachine,
  buildNode,
  NOT_READY,
  READY,
  SHUTDOWN,
  UNINITIALIZED,
} from '../../support/build-nodes.ts'
import { createPrng } from '../prng.ts'
import { FOREIGN_FINALIZER, listObjects, NAMESPACE, readObject, targetOf } from '../sim-objects.ts'
import type { KubernetesSetting, KubernetesUserAction, NodeNumber, ServiceName } from './history.ts'
import {
  CLUSTER_NAME,
  foreignCidr,
  nameOf,
  OPTION,
  OTHER_CLASS,
  outsideCidr,
  podCidr,
  podCidr6,
  SEEN_WITHIN_MS,
  SERVICE_FINALIZER,
} from './sim-cluster.ts'
import type { SimClusterCloud } from './sim-cluster-cloud.ts'

export interface ClusterStage {
  core: ControlPlaneCore
  cloud: SimClusterCloud
  setting: KubernetesSetting
  /** Which pod networks were given to nodes, by their uids. */
  given: Map<string, string[]>
  now(): number
}

export const FOREIGN_TAINT = { key: 'dedicated', value: 'x', effect: 'NoExecute' }
export const PRESSURE = { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' }
const USER = { user: { username: 'somebody', groups: ['system:authenticated'] } }

/** As the administrator of the cluster and of the cloud does it, and as kubelets do. What is refused was not done. */
export function performClusterAction(action: KubernetesUserAction, stage: ClusterStage): Promise<unknown> {
  return 'service' in action ? onService(action, stage) : onNode(action, stage)
}

type ServiceAction = Extract<KubernetesUserAction, { service: ServiceName }>
type NodeAction = Extract<KubernetesUserAction, { node: NodeNumber }>

function onService(action: ServiceAction, { core, cloud, setting }: ClusterStage): Promise<unknown> {
  const name = action.service
  const edit = (body: object, subresource?: 'status') => patch(core, 'Service', name, body, subresource)
  switch (action.do) {
    case 'create':
      return core.create(targetOf('Service'), newService(name, action.as, setting), USER)
    case 'ports':
      return edit({ spec: { ports: portsOf(action.value) } })
    case 'annotate':
      return edit({ metadata: { annotations: annotationsFor(action.how) } })
    case 'label':
      return edit({ metadata: { labels: { team: `t${action.value}` } } })
    case 'type':
      return edit({ spec: typeSpec(action.to, setting) })
    case 'delete':
      return core.delete(targetOf('Service', name), USER)
    case 'strip':
      return patchFinalizers(core, 'Service', name, (all) => all.filter((one) => one !== SERVICE_FINALIZER))
    case 'vanish':
      return core.delete(targetOf('Service', name), USER).then(() => patchFinalizers(core, 'Service', name, () => []))
    case 'foreignFinalizer':
      return patchFinalizers(core, 'Service', name, (all) => {
        const others = all.filter((one) => one !== FOREIGN_FINALIZER)
        if (action.how === 'none') return others
        return action.how === 'first' ? [FOREIGN_FINALIZER, ...others] : [...others, FOREIGN_FINALIZER]
      })
    case 'status':
      return edit(
        { status: { loadBalancer: action.how === 'wrong' ? { ingress: [{ ip: '203.0.113.99' }] } : null } },
        'status',
      )
    case 'balancer': {
      const part = cloud.balancers.find(NAMESPACE, name)
      if (part === undefined) return Promise.resolve()
      if (action.how === 'removed') cloud.balancers.remove(part)
      else part.made = { ...part.made, hosts: ['by-hand=fake://i-0'] }
      return Promise.resolve()
    }
  }
}

function onNode(action: NodeAction, stage: ClusterStage): Promise<unknown> {
  const { core, cloud, now } = stage
  const name = nameOf(action.node)
  const node = readObject<Node>(core, 'Node', name)
  switch (action.do) {
    case 'join':
      return node === undefined ? join(action, stage) : Promise.resolve()
    case 'say': {
      if (node === undefined) return Promise.resolve()
      const others = (node.status?.conditions ?? []).filter(({ type }) => type !== 'Ready')
      return patch(
        core,
        'Node',
        name,
        { status: { conditions: [...others, action.ready ? READY : NOT_READY] } },
        'status',
      )
    }
    case 'leave':
      return node === undefined ? Promise.resolve() : core.delete(targetOf('Node', name), USER)
    case 'podCidr': {
      if (node === undefined || node.spec?.podCIDRs !== undefined) return Promise.resolve()
      return patch(core, 'Node', name, { spec: { podCIDRs: freeCidrs(action, node, stage) } })
    }
    case 'mark':
      return node === undefined ? Promise.resolve() : mark(action.with, node, core)
    case 'machine':
      changeMachine(action, cloud, now())
      return Promise.resolve()
    case 'route':
      changeRoutes(action, cloud)
      return Promise.resolve()
  }
}

function newService(
  name: ServiceName,
  as: Extract<ServiceAction, { do: 'create' }>['as'],
  setting: KubernetesSetting,
): Service {
  const finalizers = as === 'foreign' ? { finalizers: [FOREIGN_FINALIZER] } : {}
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: NAMESPACE, labels: { app: name }, ...finalizers },
    spec: { ...typeSpec(as === 'foreign' ? 'ours' : as, setting), ports: portsOf(0) } as NonNullable<Service['spec']>,
  }
}

/** The class goes with the type: the API server keeps it as long as that stays. */
function typeSpec(to: 'ours' | 'another' | 'inside', { loadBalancerClass }: KubernetesSetting): object {
  if (to === 'inside') return { type: 'ClusterIP', loadBalancerClass: null }
  return { type: 'LoadBalancer', loadBalancerClass: to === 'ours' ? (loadBalancerClass ?? null) : OTHER_CLASS }
}

function portsOf(value: number) {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80 + value, targetPort: 8080 }]
  return value % 2 === 0 ? ports : [...ports, { name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 }]
}

function annotationsFor(how: Extract<ServiceAction, { do: 'annotate' }>['how']): object {
  return {
    [`${OPTION}node-selector`]: how === 'selects' ? 'team=edge' : null,
    [`${OPTION}algorithm`]: how === 'wrong' ? 'by-chance' : null,
    [`${OPTION}internal`]: how === 'rebuild' ? 'true' : null,
    [`${OPTION}idle-timeout`]: typeof how === 'number' ? String(10 + how) : null,
  }
}

function join({ node: number, as, machine: how }: Extract<NodeAction, { do: 'join' }>, stage: ClusterStage) {
  const { core, cloud, now } = stage
  const name = nameOf(number)
  if (how !== 'none' && machineOf(number, cloud) === undefined) {
    const delayMs = how === 'late' ? createPrng(now()).integer(SEEN_WITHIN_MS) : 0
    addMachine(number, cloud, now() + delayMs)
  }
  const machine = machineOf(number, cloud)
  const status = { conditions: [READY, PRESSURE] }
  const node = as === 'tainted' ? buildJoiningNode(number, { status }) : buildNode(number, { status })
  const { podCIDRs: _, providerID: __, taints = [], ...spec } = node.spec ?? {}
  const identified = as === 'known' && machine !== undefined ? { providerID: `fake://${machine.id}` } : {}
  return core.create(
    targetOf('Node'),
    {
      ...node,
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      spec: { ...spec, ...identified, taints: [FOREIGN_TAINT, ...taints] },
    } as Node,
    USER,
  )
}

/** As the node IPAM gives them: nobody else's who lives, and the same to whom they were given before. */
function freeCidrs(
  { from, families }: Extract<NodeAction, { do: 'podCidr' }>,
  { metadata: { uid = '' } }: Node,
  { core, given }: ClusterStage,
): string[] {
  const living = listObjects<Node>(core, 'Node').map(({ metadata }) => metadata.uid ?? '')
  const taken = living.flatMap((other) => given.get(other) ?? [])
  const candidates = [0, 1, 2, 3, 4].map((step) => ((from + step) % 5) + 1)
  const index = candidates.find((each) => !taken.includes(podCidr(each))) ?? 6
  const cidrs = given.get(uid) ?? (families === 1 ? [podCidr(index)] : [podCidr(index), podCidr6(index)])
  given.set(uid, cidrs)
  return cidrs
}

function mark(how: Extract<NodeAction, { do: 'mark' }>['with'], node: Node, core: ControlPlaneCore): Promise<unknown> {
  const { name, resourceVersion, labels = {} } = node.metadata
  const edit = (body: object) => patch(core, 'Node', name, body)
  const taints = node.spec?.taints ?? []
  const flip = (taint: { key: string; effect: string }) => {
    const others = taints.filter(({ key }) => key !== taint.key)
    return edit({
      metadata: { resourceVersion },
      spec: { taints: others.length < taints.length ? others : [...taints, taint] },
    })
  }
  switch (how) {
    case 'taint':
      return flip({ key: 'team', effect: 'NoSchedule' })
    case 'cloudTaint':
      return flip(UNINITIALIZED)
    case 'shutdownTaint':
      return flip(SHUTDOWN)
    case 'exclusion': {
      const label = 'node.kubernetes.io/exclude-from-external-load-balancers'
      return edit({ metadata: { labels: { [label]: label in labels ? null : '' } } })
    }
    case 'team':
      return edit({ metadata: { labels: { team: labels['team'] === undefined ? 'edge' : null } } })
    case 'zone':
      return edit({ metadata: { labels: { 'topology.kubernetes.io/zone': 'by-hand' } } })
    case 'finalizer':
      return patchFinalizers(core, 'Node', name, (all) =>
        all.includes(FOREIGN_FINALIZER) ? all.filter((one) => one !== FOREIGN_FINALIZER) : [...all, FOREIGN_FINALIZER],
      )
    case 'network': {
      const others = (node.status?.conditions ?? []).filter(({ type }) => type !== 'NetworkUnavailable')
      const condition = { type: 'NetworkUnavailable', status: 'True', reason: 'NoPlugin' }
      return patch(core, 'Node', name, { status: { conditions: [...others, condition] } }, 'status')
    }
    case 'nothing':
      return edit({ metadata: { annotations: { 'example.com/seen': resourceVersion } } })
  }
}

/** Also one that is not shown yet. */
function machineOf(number: NodeNumber, { machines }: SimClusterCloud) {
  return machines.all().find(({ name, state }) => name === nameOf(number) && state !== 'terminated')
}

/** No machine has the id of another that ever was. */
function addMachine(number: NodeNumber, { machines }: SimClusterCloud, visibleAt: number): void {
  const former = machines.all().filter(({ name }) => name === nameOf(number)).length
  const id = former === 0 ? `i-${number}` : `i-${number}${'b'.repeat(former)}`
  machines.put(buildMachine(number, { id, visibleAt, labels: { 'example.com/rack': 'r1' } }))
}

function changeMachine(
  { node, how }: Extract<NodeAction, { do: 'machine' }>,
  cloud: SimClusterCloud,
  now: number,
): void {
  const machine = machineOf(node, cloud)
  if (how === 'appears') {
    if (machine === undefined) addMachine(node, cloud, now)
    return
  }
  if (machine === undefined) return
  switch (how) {
    case 'stops':
      machine.state = 'stopped'
      return
    case 'starts':
      machine.state = 'running'
      return
    case 'vanishes':
      machine.state = 'terminated'
      return
    case 'moves': {
      const [first, ...others] = machine.addresses
      const isFirst = first?.address === `10.0.0.${node}`
      machine.addresses = [{ type: 'InternalIP', address: `10.0.${isFirst ? 1 : 0}.${node}` }, ...others]
      return
    }
    case 'changes':
      machine.type = machine.type === 'fake.small' ? 'fake.large' : 'fake.small'
  }
}

function changeRoutes({ node, how }: Extract<NodeAction, { do: 'route' }>, cloud: SimClusterCloud): void {
  const { routes } = cloud
  const nextHop = machineOf(node, cloud)?.id ?? 'i-unknown'
  const add = (cluster: string, destinationCIDR: string) => {
    if (routes.all().some((route) => route.destinationCIDR === destinationCIDR)) return
    routes.put({ cluster, name: `by-hand-${destinationCIDR}`, destinationCIDR, nextHop })
  }
  switch (how) {
    case 'removed':
      routes.remove(podCidr(node))
      break
    case 'stray':
      add(CLUSTER_NAME, podCidr(200 + node))
      break
    case 'outside':
      add(CLUSTER_NAME, outsideCidr(node))
      break
    case 'foreign':
      add('another', foreignCidr(node))
  }
}

function patch(
  core: ControlPlaneCore,
  kind: 'Service' | 'Node',
  name: string,
  body: object,
  subresource?: 'status',
): Promise<unknown> {
  const target = { ...targetOf(kind, name), ...(subresource === undefined ? {} : { subresource }) }
  return core.patch(target, { type: 'merge', body }, USER)
}

/** Reads and writes as kubectl edit does: refused when somebody else was faster. */
async function patchFinalizers(
  core: ControlPlaneCore,
  kind: 'Service' | 'Node',
  name: string,
  change: (finalizers: string[]) => string[],
): Promise<void> {
  const object = readObject<KubernetesObject>(core, kind, name)
  if (object === undefined) return
  const { resourceVersion, finalizers = [] } = object.metadata
  await patch(core, kind, name, { metadata: { resourceVersion, finalizers: change(finalizers) } })
}
