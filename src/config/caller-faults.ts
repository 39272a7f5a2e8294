import type { ConfigurationFault } from '../provider/registry.ts'

const GUARDED = ['admission', 'events', 'sweep'] as const

type Section = Record<string, unknown>

/** What is wrong with the proofs of callers. Values may be of any type; the schema tells those faults. */
export function callerFaults(callers: Section, { tls }: { tls?: unknown }): ConfigurationFault[] {
  const asking = [...GUARDED, 'metrics'].filter((door) => sectionOf(callers[door])['clientSubjects'] !== undefined)
  if (sectionOf(tls)['clientCaFile'] === undefined) {
    const message = 'needs server.tls.clientCaFile: the authority of the client certificates'
    return asking.map((door) => ({ field: `callers.${door}.clientSubjects`, message }))
  }
  const message = 'proves nobody: name the callers of a door, such as callers.admission.clientSubjects'
  return asking.length === 0 ? [{ field: 'server.tls.clientCaFile', message }] : []
}

/** The doors that everyone who can reach them may use. */
export function openDoors(callers: Section, { pathPrefix }: { pathPrefix?: unknown }): readonly string[] {
  return pathPrefix === undefined ? GUARDED.filter((door) => !hasProof(sectionOf(callers[door]))) : []
}

/** The same as faults, unless the configuration says that it is meant. */
export function openDoorFaults(callers: Section, server: { pathPrefix?: unknown }): ConfigurationFault[] {
  if (callers['anyone'] === true) return []
  return openDoors(callers, server).map((door) => {
    const proofs = door === 'events' ? 'tokenFile, oidc or clientSubjects' : 'tokenFile or clientSubjects'
    const message = `anyone could call this door: set ${proofs}, or server.pathPrefix, or callers.anyone: true to leave it open`
    return { field: `callers.${door}`, message }
  })
}

function hasProof({ tokenFile, clientSubjects, oidc }: Section): boolean {
  return [tokenFile, clientSubjects, oidc].some((proof) => proof !== undefined)
}

function sectionOf(value: unknown): Section {
  return typeof value === 'object' && value !== null ? (value as Section) : {}
}
