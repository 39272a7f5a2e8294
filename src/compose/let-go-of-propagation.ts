import { sha256 } from '../adapters/system/sha256.ts'
import { otherProvidersFinalizer } from '../domain/finalizers.ts'
import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import { CRD_POLICY_KEY, crdPropagationDesired } from '../domain/propagation/crd-propagation-desired.ts'
import { serviceExportDesired } from '../domain/propagation/service-export-desired.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import { applyChange } from '../reconcilers/apply-change.ts'
import { gatherServiceExport } from '../reconcilers/service-export/gather-service-export.ts'
import { attempt } from './attempt.ts'
import type { Drain } from './drain.ts'
import { ifServed, listServed } from './list-served.ts'

/**
 * Removes the ServiceExports and policies that their Services control, so ours and those that we adopted, unless another
 * provider holds an object that needs them; then the policy of the ServiceExport CRD, if it is ours and no ServiceExport is
 * left. `held` is how many objects are still held, and may need them. Answers how many could not be removed.
 */
export async function letGoOfPropagation(drain: Drain, held: number): Promise<number> {
  if (!drain.config.propagation.enabled) {
    drain.report('ServiceExports and policies: left alone, as propagation.enabled is false')
    return 0
  }
  let left = 0
  for (const key of await exportKeys(drain)) left += await letGoOfExport(key, drain)
  return left + (held + left === 0 ? await letGoOfCrdPolicy(drain) : 0)
}

/** Of every Service that may have one: an export and its policy are found alone where one of them was lost. */
async function exportKeys(drain: Drain): Promise<ObjectKey[]> {
  const found = [...(await listServed('ServiceExport', drain)), ...(await listServed('PropagationPolicy', drain))]
  const keys = found.flatMap((object) => {
    const service = controllingService(object)
    return service === undefined ? [] : [{ ...keyOf('ServiceExport', object), name: service }]
  })
  return [...new Map(keys.map((key) => [formatKey(key), key])).values()]
}

function controllingService({ metadata }: KubernetesObject): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner?.kind === 'Service' && owner.apiVersion === 'v1' ? owner.name : undefined
}

async function letGoOfExport(key: ObjectKey, drain: Drain): Promise<number> {
  const { store, reconcilers, dryRun, report, signal } = drain
  signal.throwIfAborted()
  const planned = await plannedRemovals(key, drain)
  if (planned.length === 0) return 0
  const { done, message } = dryRun
    ? { done: true, message: 'would be removed' }
    : await attempt(async () => {
        const outcome = await reconcilers.ServiceExport?.reconcile(key, { reader: store, signal })
        if (outcome?.kind === 'settled') return { done: true, message: 'removed' }
        return {
          done: false,
          message: `stays: ${outcome !== undefined && 'reason' in outcome ? outcome.reason : 'unknown'}`,
        }
      })
  for (const object of planned) report(`${formatKey(object)}: ${message}`)
  return done ? 0 : planned.length
}

/** What goes once no object of ours needs it any more. */
async function plannedRemovals(key: ObjectKey, { config, store, dryRun, signal }: Drain): Promise<ObjectKey[]> {
  const { ingressClass, multiClusterServices, finalizer } = config
  const settings = { ...ingressClass, ...multiClusterServices, finalizer, digest: sha256, disowned: true }
  const reader = dryRun ? asIfLetGo(store, finalizer) : store
  const { serviceExport, policies } = serviceExportDesired(await gatherServiceExport(key, settings, reader, signal))
  return [
    ...policies.flatMap((change) => (change.do === 'delete' ? [keyOf('PropagationPolicy', change.existing)] : [])),
    ...(serviceExport.do === 'delete' ? [keyOf('ServiceExport', serviceExport.existing)] : []),
  ]
}

/** A dry run leaves our finalizers where they are, and plans as if they were gone. */
function asIfLetGo(reader: ClusterReader, finalizer: string): ClusterReader {
  const without = <T extends KubernetesObject>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, finalizers: object.metadata.finalizers?.filter((name) => name !== finalizer) },
  })
  return {
    async get(key, options) {
      const object = await reader.get(key, options)
      return object && without(object)
    },
    async list(kind, options) {
      const page = await reader.list(kind, options)
      return { ...page, items: page.items.map((object) => without(object)) }
    },
  }
}

async function letGoOfCrdPolicy(drain: Drain): Promise<number> {
  const { store, dryRun, report, signal } = drain
  const existing = await ifServed(store.get(CRD_POLICY_KEY, { signal }), undefined)
  const change = crdPropagationDesired([], existing, { takeOver: false })
  if (change.do !== 'delete') return 0
  const needed = await whoNeedsTheCrd(drain)
  const { done, message } =
    needed !== undefined
      ? {
          done: true,
          message: `stays, as ${needed}: member clusters would lose the CRD, and every ServiceExport with it`,
        }
      : dryRun
        ? { done: true, message: 'would be removed' }
        : await attempt(async () => {
            await applyChange('ClusterPropagationPolicy', change, store, signal)
            return { done: true, message: 'removed' }
          })
  report(`${formatKey(CRD_POLICY_KEY)}: ${message}`)
  return done ? 0 : 1
}

/** The policy is one for the whole family, and what it brings to clusters may be used by people too. */
async function whoNeedsTheCrd(drain: Drain): Promise<string | undefined> {
  const { config, dryRun } = drain
  for (const kind of ['MultiClusterIngress', 'MultiClusterService'] as const) {
    const objects: KubernetesObject[] = await listServed(kind, drain)
    const held = objects.find((object) => otherProvidersFinalizer(object, config.finalizer) !== undefined)
    if (held !== undefined) return `another provider holds ${formatKey(keyOf(kind, held))}`
  }
  const exports = await listServed('ServiceExport', drain)
  const staying = exports.filter((object) => !dryRun || controllingService(object) === undefined)
  const [first] = staying
  return first && `${staying.length} ServiceExports remain (${formatKey(keyOf('ServiceExport', first))})`
}
