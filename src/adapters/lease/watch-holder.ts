import type { Lease } from '../../domain/lease.ts'
import { expiryOf, isMarked, isSameHolding } from '../../domain/lease-record.ts'
import { formatKey, keyOf, type ObjectKey } from '../../domain/object-key.ts'
import { deadline } from '../../reconcilers/deadline.ts'
import type { LeaseLockOptions } from './lease-lock-options.ts'

type WatchOptions = Pick<LeaseLockOptions, 'store' | 'serverClock' | 'clock' | 'logger' | 'marginMs'> &
  Required<Pick<LeaseLockOptions, 'onAbandoned'>>

const ASKED_FOR_MS = 10_000

/**
 * Whoever has left its wish with a holder looks once, when the holder's time would be over, whether it lives: if not, the
 * key is abandoned and somebody else has to look. Should this process end before, the sweep finds it.
 */
export function createHolderWatch({ store, serverClock, clock, logger, marginMs, onAbandoned }: WatchOptions) {
  const watched = new Set<string>()

  function watch(key: ObjectKey, lease: Lease): void {
    const id = formatKey(key)
    if (watched.has(id)) return
    watched.add(id)
    const waitMs = expiryOf(lease) + marginMs - serverClock.serverNow()
    clock.after(Math.max(0, waitMs) + 1_000, () => {
      watched.delete(id)
      look(key, lease).catch((error) => logger.info({ key: id, error: String(error) }, 'a holder is left to the sweep'))
    })
  }

  async function look(key: ObjectKey, lease: Lease): Promise<void> {
    const limit = deadline(clock, ASKED_FOR_MS)
    const current = await store.get(keyOf('Lease', lease) as ObjectKey & { kind: 'Lease' }, { signal: limit.signal })
    limit.cancel()
    // Another holding has taken the wish over with the Lease.
    if (current === undefined || !isSameHolding(current, lease) || !isMarked(current)) return
    if (serverClock.serverNow() > expiryOf(current) + marginMs) onAbandoned(key)
    else watch(key, current)
  }

  return watch
}
