import { isCatalogueError } from '../../src/domain/catalogue-error.ts'
import { addFinalizer } from '../../src/domain/finalizers.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../../src/domain/object-key.ts'
import type { ClusterStore, Patch, PatchOptions } from '../../src/ports/cluster-store.ts'
import type { HeldLock, Lock } from '../../src/ports/lock.ts'
import type { MultiClusterProvider, ProviderContext } from '../../src/provider/multicluster.ts'
import type { Mutation } from './mutation.ts'
import { FINALIZER } from './sim-config.ts'

/** Each takes out one safeguard; with any of them the simulation has to fail. */
export const MUTATIONS = {
  'no lock': { lock: everybodysLock },
  'no read-back of the finalizer': { wrap: (parts) => ({ ...parts, store: withoutReadBack(parts.store) }) },
  'no guard of the release': { wrap: (parts) => ({ ...parts, store: withoutReleaseGuard(parts.store) }) },
  'the provider before the finalizer': { wrap: ({ store, provider }) => withClaimAfterwards(store, provider) },
  'no second look after an ensure': { wrap: ({ store, provider }) => withoutSecondLook(store, provider) },
  'no sweep': { noSweep: true },
  'no note of a create': { lock: (lock) => withNotes(lock, () => undefined) },
  'an answer that makes up for all': { lock: (lock) => withNotes(lock, (text) => (isRest(text) ? undefined : text)) },
} as const satisfies Record<string, Mutation>

export function everybodysLock(lock: Lock): Lock {
  let fence = 0
  const notes = new Map<string, string>()
  return {
    ...lock,
    async acquire(): Promise<HeldLock> {
      fence += 1
      return {
        fence: String(fence),
        lost: new AbortController().signal,
        check() {},
        now: () => 0,
        note: (name) => notes.get(name),
        async setNote(name, text) {
          if (text === undefined) notes.delete(name)
          else notes.set(name, text)
        },
        release: async () => ({ again: false }),
      }
    },
  }
}

export type MutationName = keyof typeof MUTATIONS

type Note = string | undefined

/** Another note of a create than the one that is due. */
function withNotes(lock: Lock, change: (text: Note) => Note): Lock {
  return {
    ...lock,
    async acquire(key, options) {
      const held = await lock.acquire(key, options)
      return held && { ...held, setNote: (name, text) => held.setNote(name, name === 'create' ? change(text) : text) }
    },
  }
}

/** What is left of an earlier create when a later one is answered. */
function isRest(text: Note): boolean {
  return text !== undefined && (JSON.parse(text) as { lasts?: true }).lasts === true
}

/** What was read of each object last: what a program would go by that does not look again. */
function remembering(store: ClusterStore): {
  store: ClusterStore
  last: (key: ObjectKey) => KubernetesObject | undefined
} {
  const seen = new Map<string, KubernetesObject>()
  const note = <T extends KubernetesObject | undefined>(key: ObjectKey, object: T): T => {
    if (object !== undefined) seen.set(formatKey(key), object)
    return object
  }
  return {
    last: (key) => seen.get(formatKey(key)),
    store: {
      ...store,
      get: async (key, options) => note(key, await store.get(key, options)),
      async list(kind, options) {
        const list = await store.list(kind, options)
        for (const item of list.items) note(keyOf(kind, item), item)
        return list
      },
      patch: async (key, patch, options) => note(key, await store.patch(key, patch, options)),
    },
  }
}

function isClaim(patch: Patch): boolean {
  return patch.type === 'json' && patch.operations.some(({ op, path }) => op === 'add' && path.includes('finalizers'))
}

function claimed<T extends KubernetesObject>(object: T): T {
  const finalizers = [...(object.metadata.finalizers ?? []), FINALIZER]
  return { ...object, metadata: { ...object.metadata, finalizers } }
}

function withoutReadBack(inner: ClusterStore): ClusterStore {
  const { store, last } = remembering(inner)
  return {
    ...store,
    async patch(key, patch, options) {
      const known = last(key)
      if (!isClaim(patch) || known === undefined) return store.patch(key, patch, options)
      await store.patch(key, patch, options).catch(() => {})
      return claimed(known) as never
    },
  }
}

export function withoutReleaseGuard(store: ClusterStore): ClusterStore {
  return {
    ...store,
    patch(key, patch, options) {
      const isRelease = patch.type === 'json' && patch.operations.some(({ op }) => op === 'remove')
      if (!isRelease || patch.type !== 'json') return store.patch(key, patch, options)
      return store.patch(key, { ...patch, operations: patch.operations.filter(({ op }) => op !== 'test') }, options)
    },
  }
}

type Ensure = (object: KubernetesObject, context: ProviderContext) => Promise<unknown>

/** Around both ensures of a provider. */
function aroundEnsure(
  provider: MultiClusterProvider,
  around: (ensure: Ensure, object: KubernetesObject, context: ProviderContext) => Promise<unknown>,
): MultiClusterProvider {
  const { loadBalancer, mcsLoadBalancer } = provider
  return {
    ...provider,
    ...(loadBalancer && {
      loadBalancer: {
        ...loadBalancer,
        ensureLoadBalancer: (object, context) =>
          around(loadBalancer.ensureLoadBalancer as Ensure, object, context) as ReturnType<
            typeof loadBalancer.ensureLoadBalancer
          >,
      },
    }),
    ...(mcsLoadBalancer && {
      mcsLoadBalancer: {
        ...mcsLoadBalancer,
        ensureMCSLoadBalancer: (object, context) =>
          around(mcsLoadBalancer.ensureMCSLoadBalancer as Ensure, object, context) as ReturnType<
            typeof mcsLoadBalancer.ensureMCSLoadBalancer
          >,
      },
    }),
  }
}

function withClaimAfterwards(inner: ClusterStore, provider: MultiClusterProvider) {
  const { store, last } = remembering(inner)
  const owed = new Map<string, () => Promise<unknown>>()
  return {
    store: {
      ...store,
      async patch(key: ObjectKey, patch: Patch, options: PatchOptions) {
        const known = last(key)
        if (!isClaim(patch) || known === undefined) return store.patch(key as never, patch, options)
        owed.set(formatKey(key), () =>
          store.patch(key as never, { type: 'json', operations: addFinalizer(known, FINALIZER) }, options),
        )
        return claimed(known)
      },
    } as ClusterStore,
    provider: aroundEnsure(provider, async (ensure, object, context) => {
      const result = await ensure(object, context)
      const name = formatKey(context.identity)
      await owed.get(name)?.()
      owed.delete(name)
      return result
    }),
  }
}

function withoutSecondLook(inner: ClusterStore, provider: MultiClusterProvider) {
  const { store, last } = remembering(inner)
  const ensured = new Set<string>()
  return {
    store: {
      ...store,
      async get(key: ObjectKey, options: PatchOptions) {
        return ensured.delete(formatKey(key)) ? last(key) : store.get(key as never, options)
      },
      async patch(key: ObjectKey, patch: Patch, options: PatchOptions) {
        const known = last(key)
        if (!ensured.delete(formatKey(key)) || known === undefined) return store.patch(key as never, patch, options)
        try {
          return await store.patch(key as never, patch, options)
        } catch (error) {
          if (isCatalogueError(error, 'Conflict') || isCatalogueError(error, 'NotFound')) return known
          throw error
        }
      },
    } as ClusterStore,
    provider: aroundEnsure(provider, async (ensure, object, context) => {
      const result = await ensure(object, context)
      ensured.add(formatKey(context.identity))
      return result
    }),
  }
}
