import { readFileSync } from 'node:fs'
import { openDoors } from '../../config/caller-faults.ts'
import type { Config } from '../../config/config.ts'
import type { DoorAttempts, DoorSettings } from '../../domain/doctor/facts.ts'
import { DOORS, type Door } from '../../domain/door.ts'
import { firstToken } from '../../domain/first-token.ts'

/** Bearer tokens that the operator gave: of one door, or of each that has no other. */
export type GivenTokens = Partial<Record<Door | 'any', string>>

export interface Credential {
  token: string
  /** The setting or option that it is out of. */
  from: string
  /** Whether it was meant for this very door. */
  meant: boolean
}

export type Credentials = Partial<Record<Door, Credential>>

/** The function's own files count where they are; elsewhere what the operator gave. */
export function credentialsOf({ callers }: Config, given: GivenTokens): Credentials {
  const found: Credentials = {}
  for (const door of DOORS) {
    const { tokenFile } = callers[door]
    const token = given[door] ?? (tokenFile === undefined ? undefined : tokenIn(tokenFile))
    const from = given[door] === undefined ? `callers.${door}.tokenFile` : '--token-file'
    if (token !== undefined) found[door] = { token, from, meant: true }
    else if (given.any !== undefined) found[door] = { token: given.any, from: '--token-file', meant: false }
  }
  return found
}

/** The file may be where the function runs and nowhere else. */
function tokenIn(path: string): string | undefined {
  try {
    return firstToken(readFileSync(path, 'utf8')) || undefined
  } catch {
    return undefined
  }
}

export function doorSettings({ callers, server }: Config): DoorSettings[] {
  const open = openDoors(callers, server)
  return DOORS.map((door) => {
    const { tokenFile, clientSubjects, oidc } = { oidc: undefined, ...callers[door] }
    const proofs = [tokenFile && 'token', clientSubjects && 'client certificate', oidc && 'OIDC']
    return { door, proofs: proofs.filter((proof) => typeof proof === 'string'), open: open.includes(door) }
  })
}

interface DoorRequest {
  method: 'GET' | 'POST'
  path: string
  body?: object
}

/** Each is harmless: a review of a dry run, to the door that is pure; elsewhere what is refused for what it says. */
function harmless(door: Door, review: object): DoorRequest {
  switch (door) {
    case 'admission':
      return { method: 'POST', path: '/admission/mutate', body: review }
    case 'events':
      return { method: 'POST', path: '/events', body: {} }
    case 'sweep':
      return { method: 'POST', path: '/sweep?scope=doctor' }
    case 'metrics':
      return { method: 'GET', path: '/metrics' }
  }
}

/** Answers the status; the path is taken as it is. */
export type SendToDoor = (request: DoorRequest, token: string | undefined) => Promise<number>

export async function askDoors(
  { doors, prefix, credentials }: { doors: readonly DoorSettings[]; prefix: string; credentials: Credentials },
  review: object,
  send: SendToDoor,
): Promise<DoorAttempts[]> {
  const attempts: DoorAttempts[] = []
  for (const { door, proofs } of doors) {
    const bare = harmless(door, review)
    const request = door === 'metrics' ? bare : { ...bare, path: `${prefix}${bare.path}` }
    const { token, ...origin } = credentials[door] ?? {}
    const without: DoorAttempts['without'] = []
    if (prefix !== '' && door !== 'metrics') without.push({ proof: 'path prefix', status: await send(bare, token) })
    if (proofs.length > 0) without.push({ proof: 'credential', status: await send(request, undefined) })
    const isAsked = proofs.length === 0 || token !== undefined
    attempts.push({
      door,
      without,
      ...(isAsked ? { withProof: { status: await send(request, token), ...origin } } : {}),
    })
  }
  return attempts
}
