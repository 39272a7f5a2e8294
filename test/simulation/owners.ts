import { isBeingDeleted, type KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import type { BalancerIdentity } from '../../src/provider/multicluster.ts'
import { targetOf } from './sim-objects.ts'

/** An object that ever was, by its uid. */
export interface Owner {
  kind: BalancerIdentity['kind']
  name: string
  uid: string
  /** As it is stored; as it was last when it is gone. */
  object: KubernetesObject
  exists: boolean
  held: boolean
  deleting: boolean
  /** A user took our finalizer by hand. */
  stripped: boolean
  /** A user wrote its status by hand. */
  touched: boolean
}

export interface Commit {
  before: KubernetesObject | undefined
  /** Undefined when the object went. */
  after: KubernetesObject | undefined
  owner: Owner
  /** Undefined for users. */
  writer: string | undefined
}

export interface Owners {
  get(uid: string): Owner | undefined
  all(): Owner[]
}

/** Which objects may have a balancer, and when they are held for it. */
export interface OwnerRules {
  kinds: readonly BalancerIdentity['kind'][]
  isHeld(object: KubernetesObject): boolean
}

/** Follows every object that may have a balancer, commit by commit. */
export function trackOwners(
  core: ControlPlaneCore,
  { kinds, isHeld }: OwnerRules,
  writer: () => string | undefined,
  onCommit: (commit: Commit) => void,
): Owners {
  const owners = new Map<string, Owner>()
  for (const kind of kinds) {
    core.watch(
      { ...targetOf(kind) },
      { timeoutSeconds: 100_000_000 },
      {
        onEvent(event) {
          if (event.type === 'ERROR' || event.type === 'BOOKMARK') return
          const object = event.object as KubernetesObject
          const { uid = '', name } = object.metadata
          const before = owners.get(uid)
          const exists = event.type !== 'DELETED'
          const held = exists && isHeld(object)
          const by = writer()
          const owner: Owner = {
            kind,
            name,
            uid,
            object,
            exists,
            held,
            deleting: isBeingDeleted(object),
            stripped: (before?.stripped ?? false) || (by === undefined && before?.held === true && !held),
            touched:
              (before?.touched ?? false) ||
              (by === undefined && before !== undefined && !sameStatus(before.object, object)),
          }
          if (held) owner.stripped = false
          owners.set(uid, owner)
          onCommit({ before: before?.object, after: exists ? object : undefined, owner, writer: by })
        },
      },
    )
  }
  return { get: (uid) => owners.get(uid), all: () => [...owners.values()] }
}

function sameStatus(a: KubernetesObject, b: KubernetesObject): boolean {
  const status = (object: KubernetesObject) => JSON.stringify((object as { status?: unknown }).status)
  return status(a) === status(b)
}
