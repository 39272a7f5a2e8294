import type { ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import type { Node, NodeCondition, Taint } from '../../src/domain/node.ts'
import type { FakeMachine } from '../../src/providers/fake/fake-machines.ts'

/** T and SD of the cases. */
export const UNINITIALIZED: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
}
export const SHUTDOWN: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' }

export const READY: NodeCondition = { type: 'Ready', status: 'True', reason: 'KubeletReady' }
export const NOT_READY: NodeCondition = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }

interface NodeOverrides {
  metadata?: Partial<ObjectMeta>
  spec?: Partial<NonNullable<Node['spec']>>
  status?: Partial<NonNullable<Node['status']>>
}

/** Nk of the cases: initialised, Ready, and a day old. */
export function buildNode(number: number, { metadata, spec, status }: NodeOverrides = {}): Node {
  const name = `n${number}`
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `NU${number}`, creationTimestamp: '2026-02-28T08:00:00Z', ...metadata },
    spec: { providerID: `fake://i-${number}`, podCIDRs: [`10.244.${number}.0/24`], ...spec },
    status: { addresses: addressesOf(number), conditions: [READY], ...status },
  }
}

/** As the kubelet of an external cloud provider registers it. */
export function buildJoiningNode(number: number, overrides: NodeOverrides = {}): Node {
  const node = buildNode(number, overrides)
  const { providerID: _, ...spec } = node.spec ?? {}
  return {
    ...node,
    spec: { ...spec, taints: [UNINITIALIZED], ...overrides.spec },
    status: { ...node.status, addresses: overrides.status?.addresses ?? [{ type: 'Hostname', address: `n${number}` }] },
  }
}

/** The machine behind Nk. */
export function buildMachine(number: number, overrides: Partial<FakeMachine> = {}): FakeMachine {
  return {
    id: `i-${number}`,
    name: `n${number}`,
    state: 'running',
    type: 'fake.small',
    zone: 'zone-a',
    region: 'region-1',
    addresses: addressesOf(number),
    ...overrides,
  }
}

function addressesOf(number: number) {
  return [
    { type: 'InternalIP', address: `10.0.0.${number}` },
    { type: 'Hostname', address: `n${number}` },
  ]
}
