import type { Local } from '../compose/start-local.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
import type { ApiObject } from '../local/core/api-object.ts'
import type { RequestTarget } from '../local/core/core-environment.ts'
import type { Clock } from '../ports/clock.ts'
import type { FakeProvider } from '../providers/fake/fake-provider.ts'
import type { Console } from './console.ts'
import { sampleObjects } from './sample.ts'

export interface DemoOptions {
  provider: FakeProvider
  clock: Clock
  console: Console
  /** Delete what was made and stop, instead of serving until interrupted. */
  demo: boolean
  interrupted: Promise<void>
  /** How long an address, or a deletion, may take. */
  patienceMs?: number
}

const GROUP = { group: 'networking.karmada.io', version: 'v1alpha1', namespace: 'default' }
const SAMPLES: { file: string; label: string; target: RequestTarget }[] = [
  {
    file: 'multi-cluster-ingress.yaml',
    label: 'multiclusteringress/minimal-ingress',
    target: { ...GROUP, plural: 'multiclusteringresses', name: 'minimal-ingress' },
  },
  {
    file: 'multi-cluster-service.yaml',
    label: 'multiclusterservice/serve',
    target: { ...GROUP, plural: 'multiclusterservices', name: 'serve' },
  },
]

/** Applies the sample and shows what happens; answers the exit code. */
export async function runDemo(local: Local, options: DemoOptions): Promise<number> {
  const { console, demo, interrupted } = options
  console.out(`control plane  ${local.controlPlaneUrl}`)
  console.out(`function       ${local.functionUrl}`)
  const served = await showAddresses(local, options)
  if (!served) return 1
  if (demo) return (await showDeletion(local, options)) ? 0 : 1
  showHints(local, console)
  await interrupted
  return 0
}

/** One sample after the other, so that each run shows the same addresses. */
async function showAddresses(local: Local, { clock, console, patienceMs = 10_000 }: DemoOptions): Promise<boolean> {
  for (const { file, label, target } of SAMPLES) {
    const applied = clock.now()
    await local.create(sampleObjects(file))
    const address = await waitFor(local, target, clock, patienceMs, addressOf)
    const ms = clock.now() - applied
    if (address === undefined) {
      console.err(`${label} has no address after ${ms} ms`)
      return false
    }
    console.out(`${label.padEnd(36)} ${address.padEnd(16)} after ${ms} ms`)
  }
  return true
}

async function showDeletion(local: Local, options: DemoOptions): Promise<boolean> {
  const { clock, console, provider, patienceMs = 10_000 } = options
  const started = clock.now()
  const user = { username: 'admin', groups: ['system:masters'] }
  for (const { target } of SAMPLES) await local.core.delete(target, { user })
  let clean = true
  for (const { label, target } of SAMPLES) {
    const gone = await waitFor(local, target, clock, patienceMs, (object) =>
      object === undefined ? 'gone' : undefined,
    )
    const left =
      gone === undefined ? `stays: its finalizers are ${finalizersOf(local, target)}` : 'gone, finalizer released'
    console.out(`${label.padEnd(36)} ${left}`)
    clean &&= gone !== undefined
  }
  const balancers = provider.cloud.balancers().length
  console.out(`balancers left in the cloud: ${balancers} (after ${clock.now() - started} ms)`)
  return clean && balancers === 0
}

function showHints({ kubeconfigPath, functionUrl, caPath }: Local, { out }: Console): void {
  out('')
  out(`export KUBECONFIG=${kubeconfigPath}`)
  out('kubectl get multiclusteringresses,multiclusterservices')
  out('kubectl describe multiclusteringress minimal-ingress')
  out('kubectl delete multiclusterservice serve')
  out('')
  out(`a sweep:  curl --cacert ${caPath} -X POST ${functionUrl}/sweep`)
  out('the function asks nobody who they are: it listens on this machine only')
  out('kubectl is at https://kubernetes.io/docs/tasks/tools; any version from 1.32 on will do')
  out('Ctrl-C stops everything')
}

type Found = ApiObject | undefined

/** Looks at the control plane at each of its changes until `test` answers; undefined when it never does. */
function waitFor<T>(
  { core }: Local,
  target: RequestTarget,
  clock: Clock,
  patienceMs: number,
  test: (object: Found) => T | undefined,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const { name, ...collection } = target
    const find = () => core.list(collection).items.find(({ metadata }) => metadata.name === name)
    const look = () => {
      const value = test(find())
      if (value !== undefined) finish(value)
    }
    const finish = (value: T | undefined) => {
      cancel()
      stop()
      resolve(value)
    }
    const cancel = clock.after(patienceMs, () => finish(undefined))
    const stop = core.watch(collection, {}, { onEvent: () => queueMicrotask(look) })
    look()
  })
}

function addressOf(object: Found): string | undefined {
  const { status } = (object ?? {}) as MultiClusterIngress & MultiClusterService
  const entries = status?.loadBalancer?.ingress ?? []
  return entries.length === 0 ? undefined : entries.map(({ ip, hostname }) => ip ?? hostname).join(',')
}

function finalizersOf({ core }: Local, target: RequestTarget): string {
  return core.get(target).metadata.finalizers?.join(', ') ?? 'none'
}
