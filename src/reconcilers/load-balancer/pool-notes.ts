import { NOTHING_SERVED, type PoolMemory, withoutEndpoints } from '../../domain/backends/pool-memory.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { BalancerRecord } from '../../provider/multicluster.ts'
import type { BalancedKind, ResolvedObject } from './balanced-resource.ts'
import type { BalancerPass, HeldPass } from './balancer-pass.ts'
import type { BalancerInputs } from './balancer-snapshot.ts'

const NOTE = 'pools'

/**
 * What the pools of an object served before this pass: as this process remembers it, else as it is noted with the lock.
 * Undefined when there is a balancer and nobody remembers: it may have served anything. The note is asked for only when a
 * pool is missing, since only then the answer matters.
 */
export async function servedBefore<K extends BalancedKind>(
  object: ObjectOfKind[K],
  { backends }: ResolvedObject,
  record: BalancerRecord | undefined,
  { key, pools, lock, signal }: BalancerPass<K>,
): Promise<PoolMemory | undefined> {
  if (record === undefined) return NOTHING_SERVED
  const uid = object.metadata.uid ?? ''
  const remembered = pools.recall(key, uid)
  const isMissing = backends.backends.services.some(({ ports }) =>
    ports.some(({ state, pools: own }) => [state, ...own.map((pool) => pool.state)].includes('missing')),
  )
  if (remembered !== undefined || !isMissing) return remembered
  const text = await lock.peek(key, NOTE, { signal })
  const noted = text === undefined ? undefined : (JSON.parse(text) as { uid: string; memory: PoolMemory })
  return noted?.uid === uid ? noted.memory : undefined
}

/**
 * While a pool is held, since when it is missing is noted with the lock: the next pass may run anywhere, and must not
 * begin the grace period anew.
 */
export async function noteHeldPools<K extends BalancedKind>(
  uid: string,
  { memory, lookAgainMs }: BalancerInputs,
  { held }: HeldPass<K>,
): Promise<void> {
  const text = lookAgainMs === undefined ? undefined : JSON.stringify({ uid, memory: withoutEndpoints(memory) })
  if (held.note(NOTE) !== text) await held.setNote(NOTE, text)
}
