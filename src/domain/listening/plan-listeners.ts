import type { Backends, PortBackend } from '../backends/backends.ts'
import type { Finding } from '../finding.ts'
import type { MultiClusterService } from '../multi-cluster-service.ts'
import { planServers } from '../routing/plan-servers.ts'
import type { ListenerPlan, PlannedListener } from './listener-plan.ts'
import type { ListenerSettings } from './listener-settings.ts'

export interface PlannedListeners {
  plan: ListenerPlan
  /** Ports that no proxy for TCP can serve: with any the object is not served at all, rather than in part. */
  findings: Finding[]
}

/** Resolves a MultiClusterService to what a proxy does: one listener for each of its ports. */
export function planListeners(
  service: MultiClusterService,
  backends: Backends,
  { options, clusterWeights }: ListenerSettings,
): PlannedListeners {
  const { namespace = '', name } = service.metadata
  const ports = backends.services
    .filter((candidate) => candidate.namespace === namespace && candidate.name === name)
    .flatMap((candidate) => candidate.ports)
  const listeners = ports.flatMap((port) => planListener(port, clusterWeights)).sort((a, b) => a.port - b.port)
  return { plan: { listeners, options }, findings: ports.flatMap(protocolFindings) }
}

function planListener(port: PortBackend, clusterWeights: ListenerSettings['clusterWeights']): PlannedListener[] {
  if (port.port === undefined || port.protocol !== 'TCP') return []
  return [{ port: port.port, name: port.name, ...planServers(port, clusterWeights) }]
}

function protocolFindings({ port, protocol }: PortBackend): Finding[] {
  if (protocol === 'TCP') return []
  const rest = `${protocol} cannot be balanced here; name ports in spec.ports that are TCP only`
  return [{ field: 'spec.ports', reason: 'FieldValueInvalid', message: `Invalid value: ${port}: ${rest}` }]
}
