import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'
import { withTurn } from '../with-turn.ts'
import { applyNode } from './apply-node.ts'
import { decideNode, type NodeDecision } from './decide-node.ts'
import { gatherNode, type NodeSnapshot } from './gather-node.ts'
import type { NodeDependencies, NodePass, NodeSettings } from './node-pass.ts'

/** Initialises nodes that join, and keeps their labels and addresses. Only a decision that writes takes the lock. */
export function createNodeReconciler(settings: NodeSettings, dependencies: NodeDependencies): Reconciler {
  return {
    async reconcile(key: ObjectKey, { reader, signal }): Promise<Outcome> {
      const pass: NodePass = { ...dependencies, settings, key: { ...key, kind: 'Node' }, signal }
      const snapshot = await gatherNode(pass, reader)
      return snapshot === undefined ? { kind: 'gone' } : carryOut(decideNode(snapshot), snapshot, pass)
    },
  }
}

async function carryOut(decision: NodeDecision, { node }: NodeSnapshot, pass: NodePass): Promise<Outcome> {
  switch (decision.do) {
    case 'nothing':
      return { kind: 'ignored', reason: decision.reason }
    case 'settled':
      return { kind: 'settled' }
    case 'fail':
      throw new CatalogueError('ProviderFailed', decision.message, { object: pass.key })
    case 'throw':
      throw decision.error
    case 'write':
      return withLock(pass.lock, pass.key, pass.signal, (held) => applyNode(decision, node, withTurn(pass, held)))
  }
}
