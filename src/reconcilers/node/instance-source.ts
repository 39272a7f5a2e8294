import type { Node } from '../../domain/node.ts'
import type {
  CloudContext,
  CloudProvider,
  InstanceMetadata,
  Instances,
  InstancesV2,
  Zone,
} from '../../provider/cloud.ts'
import { instanceProviderID } from '../../provider/instance-provider-id.ts'
import { isInstanceMissing, isNotImplemented } from '../ask-cloud.ts'

/** What the node controllers ask of a cloud, whichever form of the interface it has. */
export interface InstanceSource {
  /** Undefined when nothing is known yet. */
  metadata(node: Node, context: CloudContext): Promise<InstanceMetadata | undefined>
  exists(node: Node, context: CloudContext): Promise<boolean>
  isShutDown(node: Node, context: CloudContext): Promise<boolean>
  /** Whether a node without a providerID is never finished (R-NODE-3). */
  mustIdentify: boolean
}

/** Undefined when the cloud knows no instances. With the newer form the older one is never called (R-IF-6). */
export function instanceSource(cloud: CloudProvider): InstanceSource | undefined {
  const newer = cloud.instancesV2?.()
  if (newer !== undefined) return fromInstancesV2(newer)
  const older = cloud.instances()
  return older === undefined ? undefined : fromInstances(older, cloud)
}

function fromInstancesV2(instances: InstancesV2): InstanceSource {
  return {
    mustIdentify: true,
    metadata: (node, context) => instances.instanceMetadata(node, context),
    // Providers use the sentinel of the older form too (k/k#141364).
    exists: (node, context) => unlessMissing(instances.instanceExists(node, context)),
    isShutDown: (node, context) => instances.instanceShutdown(node, context),
  }
}

function fromInstances(instances: Instances, cloud: CloudProvider): InstanceSource {
  const zones = cloud.zones()
  return {
    mustIdentify: false,
    async metadata(node, context) {
      const { name } = node.metadata
      const providerID = await providerIdOf(node, context).catch(emptyIfNotImplemented)
      const either = <T>(byId: (id: string) => Promise<T>, byName: () => Promise<T>) =>
        byIdOrName(providerID, byId, byName)
      const nodeAddresses = await either(
        (id) => instances.nodeAddressesByProviderID(id, context),
        () => instances.nodeAddresses(name, context),
      )
      const instanceType = await either(
        (id) => instances.instanceTypeByProviderID(id, context),
        () => instances.instanceType(name, context),
      )
      const { failureDomain, region } = await either<Zone>(
        async (id) => (await zones?.getZoneByProviderID(id, context)) ?? NO_ZONE,
        async () => (await zones?.getZoneByNodeName(name, context)) ?? NO_ZONE,
      )
      return { providerID, nodeAddresses, instanceType, zone: failureDomain, region }
    },
    exists: (node, context) =>
      unlessMissing(providerIdOf(node, context).then((id) => instances.instanceExistsByProviderID(id, context))),
    isShutDown: (node, context) =>
      providerIdOf(node, context)
        .then((id) => instances.instanceShutdownByProviderID(id, context))
        .catch((error: unknown) => {
          if (isNotImplemented(error)) return false
          throw error
        }),
  }

  /** The node's own, or the one of the instance of its name. */
  async function providerIdOf({ metadata, spec }: Node, context: CloudContext): Promise<string> {
    return spec?.providerID || instanceProviderID(cloud, metadata.name, context)
  }
}

const NO_ZONE: Zone = { failureDomain: '', region: '' }

/** By providerID, then by name (R-NODE-4). */
async function byIdOrName<T>(
  providerID: string,
  byId: (id: string) => Promise<T>,
  byName: () => Promise<T>,
): Promise<T> {
  if (providerID === '') return byName()
  try {
    return await byId(providerID)
  } catch {
    return byName()
  }
}

function emptyIfNotImplemented(error: unknown): string {
  if (isNotImplemented(error)) return ''
  throw error
}

async function unlessMissing(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer
  } catch (error) {
    if (isInstanceMissing(error)) return false
    throw error
  }
}
