import type { Scheduler, Step } from './scheduler.ts'

/** How the other side answers; the answer arrives in a step of its own. */
export interface Reply<T> {
  resolve(value: T): void
  reject(error: unknown): void
}

export interface Exchange<T> {
  label: string
  sender: string
  signal: AbortSignal
  /** Until it arrives; undefined: it never does. */
  delayMs: number | undefined
  /** Whether what has not arrived when the sender gives up arrives all the same. */
  isUnstoppable: boolean
  /** When the sender gives up by itself. */
  timeout: { ms: number; error: () => unknown } | undefined
  onAbort: () => unknown
  onAnswer?: () => void
  /** It has arrived; `isAwaited` says whether somebody still waits. */
  arrive(reply: Reply<T>, isAwaited: boolean): void
}

/** Requests on their way and answers on their way back. */
export interface Exchanges {
  send<T>(exchange: Exchange<T>): Promise<T>
  /** The sender is gone: what is on its way lands, or does not, as `lands` says; undefined is never. */
  orphan(sender: string, lands: () => number | undefined): void
  /** The history is over: everybody who still waits is let go, so that nothing of it is kept in memory. */
  close(): void
}

export function createExchanges(scheduler: Scheduler): Exchanges {
  const underWay = new Set<{ sender: string; step: Step }>()
  const waiting = new Set<() => void>()
  let isClosed = false

  function send<T>(exchange: Exchange<T>): Promise<T> {
    const { label, sender, signal, delayMs, isUnstoppable, timeout, onAbort, onAnswer, arrive } = exchange
    if (isClosed) return Promise.reject(new Error('the history is over'))
    return new Promise<T>((resolve, reject) => {
      const clock = scheduler.clockOf(sender)
      let isOver = false
      let stop = () => {}
      const settle = (how: () => void) => {
        if (isOver) return
        isOver = true
        cancelTimeout()
        waiting.delete(letGo)
        signal.removeEventListener('abort', abort)
        how()
      }
      const abort = () => {
        if (!isUnstoppable) stop()
        settle(() => reject(onAbort()))
      }
      const letGo = () => settle(() => reject(new Error('the history is over')))
      const answer = (how: () => void) => {
        const run = () => {
          onAnswer?.()
          settle(how)
        }
        scheduler.add({ label: `answer to ${label}`, owner: sender, at: scheduler.now(), run })
      }
      const reply: Reply<T> = {
        resolve: (value) => answer(() => resolve(value)),
        reject: (error) => answer(() => reject(error)),
      }
      const cancelTimeout =
        timeout === undefined ? () => {} : clock.after(timeout.ms, () => settle(() => reject(timeout.error())))
      signal.addEventListener('abort', abort, { once: true })
      waiting.add(letGo)
      if (delayMs === undefined) return
      const run = () => {
        underWay.delete(flight)
        arrive(reply, !isOver)
      }
      const step = scheduler.add({ label, owner: undefined, at: scheduler.now() + delayMs, run })
      const flight = { sender, step }
      underWay.add(flight)
      stop = () => {
        scheduler.cancel(step)
        underWay.delete(flight)
      }
    })
  }

  return {
    send,
    orphan(sender, lands) {
      for (const flight of underWay) {
        if (flight.sender !== sender) continue
        underWay.delete(flight)
        scheduler.cancel(flight.step)
        const afterMs = lands()
        if (afterMs === undefined) continue
        const at = Math.max(flight.step.at, scheduler.now() + afterMs)
        scheduler.add({ ...flight.step, at, label: `${flight.step.label}, after its sender’s death` })
      }
    },
    close() {
      isClosed = true
      for (const letGo of [...waiting]) letGo()
    },
  }
}
