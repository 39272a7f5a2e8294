import fc from 'fast-check'
import { cleanUpLeases } from '../../src/adapters/lease/clean-up-leases.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { HeldLock } from '../../src/ports/lock.ts'
import { createLeaseWorld, type Flaws, type LeaseWorld, type Member } from './lease-world.ts'
import type { Fault } from './unreliable-store.ts'

type Step =
  | { do: 'ask'; who: number; takesMs: number }
  | { do: 'freeze'; who: number; ms: number }
  /** For good; what it was asked another one is asked a little later. */
  | { do: 'kill'; who: number }
  | { do: 'wait'; ms: number }

/** What happens to three machines that want the same object. */
export interface LeaseHistory {
  clocks: { skewMs: number; rate: number }[]
  /** Of one request after the other; then all is well. */
  faults: Fault[]
  steps: Step[]
}

export function leaseHistories(): fc.Arbitrary<LeaseHistory> {
  const who = fc.integer({ min: 0, max: 2 })
  const takesMs = fc.constantFrom(0, 200, 4_000, 30_000, 60_000)
  const ask = fc.record({ do: fc.constant('ask' as const), who, takesMs })
  const none = fc.constant<Fault>({ kind: 'none' })
  const fault = fc.oneof(
    { weight: 12, arbitrary: none },
    fc.record({ kind: fc.constant('slow' as const), ms: fc.constantFrom(5, 100, 1_000, 4_000) }),
    fc.constant<Fault>({ kind: 'lostBefore' }),
    fc.record({ kind: fc.constant('lostAfter' as const), ms: fc.constantFrom(0, 100, 3_000, 12_000) }),
  )
  return fc.record({
    clocks: fc.array(
      fc.record({ skewMs: fc.integer({ min: -600_000, max: 600_000 }), rate: fc.constantFrom(1, 0.995, 1.005) }),
      { minLength: 3, maxLength: 3 },
    ),
    faults: fc.array(fault, { maxLength: 60, size: 'max' }),
    steps: fc.array(
      fc.oneof(
        { weight: 6, arbitrary: ask },
        {
          weight: 6,
          arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 90, 700, 6_000, 25_000) }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            do: fc.constant('freeze' as const),
            who,
            ms: fc.constantFrom(300, 8_000, 14_000, 40_000, 40_000),
          }),
        },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), who }) },
      ),
      { minLength: 1, maxLength: 40, size: 'max' },
    ),
  })
}

const KEY: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' }
const RETRY_MS = 5_000
const REDELIVERY_MS = 30_000

interface Worker extends Member {
  dead: boolean
  /** What it has taken on and not finished. */
  errands: Set<Errand>
}

interface Errand {
  takesMs: number
}

interface Played {
  faults: string[]
  passes: number
  lost: number
  waited: number
}

/**
 * Asks, passes and what goes wrong, as a queue would have it: an ask that fails comes again, an ask that came second is
 * done, a pass that was told "again" is followed by another. In the end each ask must have been followed by a whole pass.
 */
export async function playLeaseHistory({ clocks, faults, steps }: LeaseHistory, flaws: Flaws = {}): Promise<Played> {
  const world = createLeaseWorld(flaws)
  const upcoming = [...faults]
  const fault = () => upcoming.shift() ?? { kind: 'none' as const }
  const workers: Worker[] = clocks.map((clock, index) => ({
    ...world.join(`machine-${index}`, { ...clock, fault, onAbandoned: () => abandoned(index) }),
    dead: false,
    errands: new Set(),
  }))
  const played: Played = { faults: [], passes: 0, lost: 0, waited: 0 }
  const holders = new Map<HeldLock, Worker>()
  const fences: bigint[] = []
  let moment = 0
  let lastAsk = 0
  /** The moment at which the last whole pass began. */
  let seenUntil = 0

  /** Told by one that waited; a dead one tells nothing. */
  function abandoned(index: number): void {
    const worker = workers[index]
    if (worker !== undefined && !worker.dead) void run(worker, { takesMs: 0 })
  }

  async function run(worker: Worker, errand: Errand): Promise<void> {
    worker.errands.add(errand)
    try {
      const held = await worker.lock.acquire(KEY, { signal: new AbortController().signal })
      if (held === undefined) played.waited += 1
      else if ((await pass(worker, held, errand)).again) later(worker, errand, 0)
    } catch {
      later(worker, errand, RETRY_MS)
    }
    worker.errands.delete(errand)
  }

  function later(worker: Worker, errand: Errand, ms: number): void {
    const again = { ...errand }
    worker.errands.add(again)
    worker.machine.clock.after(ms, () => {
      worker.errands.delete(again)
      void run(worker, again)
    })
  }

  async function pass(worker: Worker, held: HeldLock, { takesMs }: Errand): Promise<{ again: boolean }> {
    begin(worker, held)
    const began = ++moment
    await new Promise<void>((resolve) => void worker.machine.clock.after(takesMs, resolve))
    await worker.machine.awake()
    const isWhole = !held.lost.aborted
    if (isWhole) {
      seenUntil = Math.max(seenUntil, began)
      played.passes += 1
    } else played.lost += 1
    holders.delete(held)
    const result = await held.release()
    if (!isWhole) throw new Error('lost')
    return result
  }

  function begin(worker: Worker, held: HeldLock): void {
    for (const [other, owner] of holders) {
      const knows = !owner.machine.frozen() && !owner.dead
      if (knows && !other.lost.aborted) played.faults.push(`two holders at ${world.clock.now()}`)
    }
    const fence = BigInt(held.fence)
    if (fences.some((earlier) => earlier >= fence)) played.faults.push(`fence ${fence} after ${fences}`)
    fences.push(fence)
    holders.set(held, worker)
  }

  function ask(worker: Worker, errand: Errand): void {
    lastAsk = ++moment
    const willing = [worker, ...workers].find(({ dead, machine }) => !dead && !machine.frozen())
    if (willing !== undefined) void run(willing, errand)
    else world.clock.after(RETRY_MS, () => ask(worker, errand))
  }

  function kill(worker: Worker): void {
    if (workers.filter(({ dead }) => !dead).length === 1) return
    worker.dead = true
    worker.machine.freeze()
    for (const errand of worker.errands) world.clock.after(REDELIVERY_MS, () => ask(worker, errand))
  }

  for (const step of steps) {
    const worker = 'who' in step ? workers[step.who] : undefined
    if (step.do === 'wait') await world.clock.advance(step.ms)
    else if (worker === undefined || worker.dead) continue
    else if (step.do === 'ask') ask(worker, { takesMs: step.takesMs })
    else if (step.do === 'kill') kill(worker)
    else {
      worker.machine.freeze()
      world.clock.after(step.ms, () => {
        if (!worker.dead) worker.machine.thaw()
      })
    }
  }
  await settle(world, workers, (worker) => ask(worker, { takesMs: 0 }))
  if (seenUntil < lastAsk) played.faults.push(`asked at ${lastAsk}, last whole pass began at ${seenUntil}`)
  return played
}

/** Time passes; then a sweep looks at what dead holders left. */
async function settle(world: LeaseWorld, workers: Worker[], ask: (worker: Worker) => void): Promise<void> {
  await world.clock.advance(3_000_000)
  const survivor = workers.find(({ dead }) => !dead)
  if (survivor === undefined) return
  const options = { ...survivor.options, store: world.store, serverClock: { serverNow: world.clock.now } }
  const { abandoned } = await cleanUpLeases(options, { signal: new AbortController().signal })
  for (const _ of abandoned) ask(survivor)
  await world.clock.advance(3_000_000)
}
