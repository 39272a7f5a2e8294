import type { Exchanges } from './exchanges.ts'
import type { ChaosAction } from './history.ts'
import type { Journal } from './journal.ts'
import { createPrng } from './prng.ts'
import type { Scheduler } from './scheduler.ts'
import type { SimProcess } from './sim-process.ts'

/** The instances of the function: each a row of processes, one after the other. */
export interface Fleet {
  /** Starts those that are dead, wakes those that stand still. */
  heal(): void
  kill(action: Extract<ChaosAction, { do: 'kill' }>): void
  freeze(action: Extract<ChaosAction, { do: 'freeze' }>): void
  /** A door that is closed is a message lost. */
  awake(index: number): SimProcess | undefined
  /** One after another is asked; who stands still does not answer. */
  reachable(which: number): SimProcess | undefined
  isSweeping(): boolean
  /** Of these processes, which instances they are. */
  indexesOf(ids: readonly string[]): number[]
}

export interface FleetParts {
  instances: number
  scheduler: Scheduler
  exchanges: Exchanges
  journal: Journal
  /** Of one process, as long as it is the one that lives. */
  start(index: number, id: string, isAlive: () => boolean): SimProcess
  onGone(id: string): void
  onFrozen(id: string): void
}

interface Slot {
  /** Undefined while its process is dead. */
  process: SimProcess | undefined
  isFrozen: boolean
  born: number
}

export function createFleet({ instances, scheduler, exchanges, journal, start, onGone, onFrozen }: FleetParts): Fleet {
  const slots: Slot[] = Array.from({ length: instances }, () => ({ process: undefined, isFrozen: false, born: 0 }))
  let reviews = 0

  function boot(index: number): void {
    const slot = slots[index]
    if (slot === undefined || slot.process !== undefined) return
    slot.born += 1
    const id = `instance-${index}${slot.born === 1 ? '' : `.${slot.born}`}`
    slot.process = start(index, id, () => slot.process?.id === id)
  }

  function thaw(slot: Slot): void {
    if (slot.process !== undefined && slot.isFrozen) scheduler.thaw(slot.process.id)
    slot.isFrozen = false
  }

  function heal(): void {
    for (const slot of slots) thaw(slot)
    for (const index of slots.keys()) boot(index)
  }

  return {
    heal,
    kill({ instance, restartMs, lands }) {
      const slot = slots[instance]
      const id = slot?.process?.id
      if (slot === undefined || id === undefined) return
      journal.happened('kill')
      slot.process = undefined
      if (slot.isFrozen) scheduler.thaw(id)
      slot.isFrozen = false
      scheduler.forget(id)
      onGone(id)
      const prng = createPrng(typeof lands === 'number' ? lands : 0)
      exchanges.orphan(id, () => {
        if (lands === 'never' || (lands !== 'all' && prng.chance(0.5))) return undefined
        journal.happened('landed after death')
        // What was sent may arrive a while later.
        return lands === 'all' ? 0 : prng.pick([0, 0, 200, 3_000])
      })
      const at = scheduler.now() + restartMs
      scheduler.add({ label: `restart of ${id}`, owner: undefined, at, run: () => boot(instance) })
    },
    freeze({ instance, ms }) {
      const slot = slots[instance]
      const id = slot?.process?.id
      if (slot === undefined || id === undefined || slot.isFrozen) return
      journal.happened('freeze')
      slot.isFrozen = true
      scheduler.freeze(id)
      onFrozen(id)
      const run = () => {
        if (slot.process?.id === id) thaw(slot)
      }
      scheduler.add({ label: `thaw of ${id}`, owner: undefined, at: scheduler.now() + ms, run })
    },
    awake(index) {
      const slot = slots[index % slots.length]
      return slot === undefined || slot.isFrozen ? undefined : slot.process
    },
    reachable(which) {
      if (which === 0) reviews += 1
      const living = slots.filter(({ process }) => process !== undefined)
      const slot = living[(reviews + which) % living.length]
      return slot === undefined || slot.isFrozen ? undefined : slot.process
    },
    isSweeping: () => slots.some(({ process }) => process?.isSweeping() ?? false),
    indexesOf: (ids) => [...slots.keys()].filter((index) => ids.includes(slots[index]?.process?.id ?? '')),
  }
}
