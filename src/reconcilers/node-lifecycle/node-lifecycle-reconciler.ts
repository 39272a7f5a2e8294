import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'
import { withTurn } from '../with-turn.ts'
import { deleteNode, writeTaints } from './apply-lifecycle.ts'
import { decideLifecycle, type LifecycleDecision } from './decide-lifecycle.ts'
import { gatherLifecycle, type LifecycleSnapshot } from './gather-lifecycle.ts'
import type { LifecycleDependencies, LifecyclePass, LifecycleSettings } from './lifecycle-pass.ts'

/** Deletes nodes whose instance is gone, and marks those whose instance is shut down. */
export function createNodeLifecycleReconciler(
  settings: LifecycleSettings,
  dependencies: LifecycleDependencies,
): Reconciler {
  return {
    async reconcile(key: ObjectKey, { reader, signal }): Promise<Outcome> {
      const pass: LifecyclePass = { ...dependencies, settings, key: { ...key, kind: 'Node' }, signal }
      const snapshot = await gatherLifecycle(pass, reader)
      return snapshot === undefined ? { kind: 'gone' } : carryOut(decideLifecycle(snapshot), snapshot, pass)
    },
  }
}

async function carryOut(
  decision: LifecycleDecision,
  { node }: LifecycleSnapshot,
  pass: LifecyclePass,
): Promise<Outcome> {
  switch (decision.do) {
    case 'nothing':
      return { kind: 'ignored', reason: decision.reason }
    case 'settled':
      return { kind: 'settled' }
    case 'wait':
      return { kind: 'later', afterMs: decision.afterMs, reason: 'the cloud does not show it, and it is new' }
    case 'taint':
      return locked(pass, (held) => writeTaints(decision.taints, node, held))
    case 'delete':
      return locked(pass, (held) => deleteNode(node, held))
  }
}

function locked(pass: LifecyclePass, write: (held: LifecyclePass) => Promise<Outcome>): Promise<Outcome> {
  return withLock(pass.lock, pass.key, pass.signal, (held) => write(withTurn(pass, held)))
}
