import type { Outcome } from '../domain/outcome.ts'
import type { Reconciler } from './reconciler.ts'

/**
 * Two who look after different things of one object, under one key. The second runs whatever became of the first, unless
 * the object is gone; of two failures the first is told.
 */
export function inTurn(first: Reconciler, second: Reconciler): Reconciler {
  return {
    async reconcile(key, pass) {
      const one = await attempt(() => first.reconcile(key, pass))
      if (one.outcome?.kind === 'gone') return one.outcome
      const other = await attempt(() => second.reconcile(key, pass))
      if (one.outcome === undefined) throw one.error
      if (other.outcome === undefined) throw other.error
      return both(one.outcome, other.outcome)
    },
  }
}

type Attempt = { outcome: Outcome } | { outcome: undefined; error: unknown }

async function attempt(reconcile: () => Promise<Outcome>): Promise<Attempt> {
  try {
    return { outcome: await reconcile() }
  } catch (error) {
    return { outcome: undefined, error }
  }
}

/** What is not finished says when to come back, the sooner of two. */
function both(a: Outcome, b: Outcome): Outcome {
  if (a.kind === 'later' && b.kind === 'later') return a.afterMs <= b.afterMs ? a : b
  const order = ['gone', 'failed', 'later', 'settled', 'ignored'] as const
  return order.indexOf(a.kind) <= order.indexOf(b.kind) ? a : b
}
