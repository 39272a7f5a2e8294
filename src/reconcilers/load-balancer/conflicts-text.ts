import type { HostConflict } from '../../domain/host-conflicts.ts'

/** Equal for equal conflicts; empty, and the same text, for none. */
export function conflictsText(conflicts: readonly HostConflict[]): string {
  return conflicts.length === 0 ? '' : JSON.stringify(conflicts)
}
