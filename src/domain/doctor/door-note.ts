import type { AdmissionRequest } from '../admission-request.ts'

/** Marks the doctor's object. It is sent in dry runs only, so none is ever stored. */
export const DOCTOR_ANNOTATION = 'webhook-cloud-provider.dev/doctor'

export const DOORS = ['mutate', 'validate', 'notify'] as const
export type Door = (typeof DOORS)[number]

/**
 * What a door adds to its answer to the doctor's dry run: a warning, which the API server hands on to its caller. So the
 * doctor hears of each door by way of the API server, although nothing is stored and nothing queued.
 */
export function doorNote(door: Door, { dryRun, object }: AdmissionRequest): string | undefined {
  if (!dryRun) return undefined
  // Below `metadata` the object is not checked yet.
  const annotations: unknown = object?.metadata.annotations
  const isMarked =
    typeof annotations === 'object' && annotations !== null && Object.hasOwn(annotations, DOCTOR_ANNOTATION)
  return isMarked ? noteOf(door) : undefined
}

/** Which doors wrote one of these warnings. */
export function doorsThatNoted(warnings: readonly string[]): Door[] {
  return DOORS.filter((door) => warnings.some((warning) => warning.includes(noteOf(door))))
}

function noteOf(door: Door): string {
  return `webhook-cloud-provider: the ${door} door answers`
}
