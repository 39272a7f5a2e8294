import type { Node, NodeAddress } from '../../domain/node.ts'
import type { Clock } from '../../ports/clock.ts'
import type { InstanceMetadata, Instances, InstancesV2, Zones } from '../../provider/cloud.ts'
import { InstanceNotFound, NotImplemented } from '../../provider/errors.ts'
import type { FakeCallLog } from './fake-call-log.ts'

/** A machine of the cloud. */
export interface FakeMachine {
  /** What follows `fake://`. */
  id: string
  name: string
  state: 'pending' | 'running' | 'stopping' | 'stopped' | 'suspended' | 'terminated'
  type: string
  zone: string
  region: string
  addresses: NodeAddress[]
  labels?: Record<string, string>
  /** From when on it can be seen, in milliseconds since the epoch; at once when absent. */
  visibleAt?: number
}

export interface FakeMachines {
  put(machine: FakeMachine): FakeMachine
  remove(id: string): void
  /** The living machine of this id or name, as anybody sees it now. */
  find(idOrName: string): FakeMachine | undefined
  all(): FakeMachine[]
  instancesV2: InstancesV2
  /** The same in the form of 2019. */
  instances: Instances
  zones: Zones
}

const SCHEME = 'fake://'

interface MachineOptions {
  log: FakeCallLog
  clock: Clock
  /** Machines for nodes that it does not know, so that a cluster can be tried that has no machines here. */
  adopt: boolean
}

export function createFakeMachines({ log, clock, adopt }: MachineOptions): FakeMachines {
  const machines = new Map<string, FakeMachine>()
  const removed = new Set<string>()

  function find(idOrName: string): FakeMachine | undefined {
    return [...machines.values()].find(
      ({ id, name, state, visibleAt = 0 }) =>
        (id === idOrName || name === idOrName) && state !== 'terminated' && visibleAt <= clock.now(),
    )
  }

  /** By providerID, else by name. A machine of another cloud is nobody's to judge (R-LIFE-6). */
  function ofNode({ spec, metadata }: Node): FakeMachine | undefined {
    return spec?.providerID ? byProviderId(spec.providerID) : byName(metadata.name)
  }

  function byProviderId(providerID: string): FakeMachine | undefined {
    if (!providerID.startsWith(SCHEME)) throw new Error(`providerID "${providerID}" is not one of this cloud`)
    const id = providerID.slice(SCHEME.length)
    return find(id) ?? (id.startsWith('i-') ? adoptedBy(id.slice(2)) : undefined)
  }

  function byName(name: string): FakeMachine | undefined {
    return find(name) ?? adoptedBy(name)
  }

  /** What was removed stays gone. */
  function adoptedBy(name: string): FakeMachine | undefined {
    return adopt && !removed.has(`i-${name}`) ? put(adopted(name, machines.size + 1)) : undefined
  }

  function put(machine: FakeMachine): FakeMachine {
    machines.set(machine.id, machine)
    return machine
  }

  const requiredId = (providerID: string) => required(byProviderId(providerID))
  const requiredName = (name: string) => required(byName(name))
  const zoneOf = ({ zone, region }: FakeMachine) => ({ failureDomain: zone, region })

  return {
    put,
    remove(id) {
      machines.delete(id)
      removed.add(id)
    },
    find,
    all: () => [...machines.values()],
    instancesV2: {
      instanceExists: (node, context) =>
        log.act({ method: 'instanceExists', about: node.metadata.name }, context, () => ofNode(node) !== undefined),
      instanceShutdown: (node, context) =>
        log.act({ method: 'instanceShutdown', about: node.metadata.name }, context, () =>
          isOff(required(ofNode(node))),
        ),
      instanceMetadata: (node, context) =>
        log.act({ method: 'instanceMetadata', about: node.metadata.name }, context, () =>
          metadataOf(required(ofNode(node))),
        ),
    },
    instances: {
      nodeAddresses: (name, context) =>
        log.act({ method: 'nodeAddresses', about: name }, context, () => requiredName(name).addresses),
      nodeAddressesByProviderID: (id, context) =>
        log.act({ method: 'nodeAddressesByProviderID', about: id }, context, () => requiredId(id).addresses),
      instanceID: (name, context) =>
        log.act({ method: 'instanceID', about: name }, context, () => requiredName(name).id),
      instanceType: (name, context) =>
        log.act({ method: 'instanceType', about: name }, context, () => requiredName(name).type),
      instanceTypeByProviderID: (id, context) =>
        log.act({ method: 'instanceTypeByProviderID', about: id }, context, () => requiredId(id).type),
      addSSHKeyToAllInstances: async () => {
        throw new NotImplemented()
      },
      currentNodeName: async (hostname) => hostname,
      instanceExistsByProviderID: (id, context) =>
        log.act({ method: 'instanceExistsByProviderID', about: id }, context, () => byProviderId(id) !== undefined),
      instanceShutdownByProviderID: (id, context) =>
        log.act({ method: 'instanceShutdownByProviderID', about: id }, context, () => isOff(requiredId(id))),
    },
    zones: {
      getZone: async () => {
        throw new NotImplemented()
      },
      getZoneByProviderID: (id, context) =>
        log.act({ method: 'getZoneByProviderID', about: id }, context, () => zoneOf(requiredId(id))),
      getZoneByNodeName: (name, context) =>
        log.act({ method: 'getZoneByNodeName', about: name }, context, () => zoneOf(requiredName(name))),
    },
  }
}

function required(machine: FakeMachine | undefined): FakeMachine {
  if (machine === undefined) throw new InstanceNotFound()
  return machine
}

/** Only a terminated machine is gone; of those that exist these do not run (C-113). */
function isOff({ state }: FakeMachine): boolean {
  return state === 'stopped' || state === 'suspended'
}

function metadataOf({ id, type, zone, region, addresses, labels }: FakeMachine): InstanceMetadata {
  return {
    providerID: `${SCHEME}${id}`,
    instanceType: type,
    nodeAddresses: structuredClone(addresses),
    zone,
    region,
    ...(labels && { additionalLabels: { ...labels } }),
  }
}

function adopted(name: string, number: number): FakeMachine {
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  return {
    id: `i-${name}`,
    name,
    state: 'running',
    type: 'fake.small',
    zone: 'zone-a',
    region: 'region-1',
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
  }
}
