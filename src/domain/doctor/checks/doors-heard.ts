import { type Door, doorsThatNoted } from '../door-note.ts'
import type { Facts } from '../facts.ts'

/** The doors that answered the API server in the dry run; none where there was none. */
export function doorsHeard({ dryRun }: Facts): Door[] {
  return dryRun.known ? doorsThatNoted(dryRun.value.warnings) : []
}
