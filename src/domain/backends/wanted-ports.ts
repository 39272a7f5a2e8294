import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import type { MultiClusterService } from '../multi-cluster-service.ts'
import { ingressBackends } from '../referenced-services.ts'
import type { Service, ServicePort } from '../service.ts'

/** A port as it is asked for, before a Service is looked at. Neither: all ports, or the only one. */
export interface PortReference {
  name?: string
  number?: number
}

/** Ports of one Service: those that exist, and references that fit none. */
export interface WantedPorts {
  ports: ServicePort[]
  unmatched: PortReference[]
}

/** What an ingress asks of each Service, by its name; the same reference once. */
export function ingressPortReferences(ingress: MultiClusterIngress): Map<string, PortReference[]> {
  const references = new Map<string, PortReference[]>()
  for (const { service } of ingressBackends(ingress)) {
    if (service === undefined || service.name === '') continue
    const { name, number } = service.port ?? {}
    const known = references.get(service.name) ?? []
    references.set(service.name, known)
    if (known.some((reference) => reference.name === name && reference.number === number)) continue
    known.push({ ...(name === undefined ? {} : { name }), ...(number === undefined ? {} : { number }) })
  }
  return references
}

/** What a MultiClusterService asks of its Service; none means all ports. */
export function servicePortReferences({ spec }: MultiClusterService): PortReference[] {
  return (spec?.ports ?? []).map(({ name, port }) => ({
    ...(name === undefined || name === '' ? {} : { name }),
    number: port,
  }))
}

/** An ingress is HTTP: TCP ports only, and each reference means one port. */
export function wantedByIngress({ spec }: Service, references: readonly PortReference[]): WantedPorts {
  const ports = (spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  return select(ports, references, (reference) => {
    if (reference.name === undefined && reference.number === undefined) return ports.length === 1 ? ports : []
    return ports.filter((port) => fits(port, reference)).slice(0, 1)
  })
}

/** `port: 53` means every port of that number, TCP and UDP; with a name, name and number must agree. */
export function wantedByService({ spec }: Service, references: readonly PortReference[]): WantedPorts {
  const ports = spec?.ports ?? []
  if (references.length === 0) return { ports, unmatched: [] }
  return select(ports, references, (reference) => ports.filter((port) => fits(port, reference)))
}

function select(
  ports: readonly ServicePort[],
  references: readonly PortReference[],
  choose: (reference: PortReference) => ServicePort[],
): WantedPorts {
  const chosen = new Set(references.flatMap(choose))
  return {
    ports: ports.filter((port) => chosen.has(port)),
    unmatched: references.filter((reference) => choose(reference).length === 0),
  }
}

function fits(port: ServicePort, { name, number }: PortReference): boolean {
  return (name === undefined || port.name === name) && (number === undefined || port.port === number)
}
