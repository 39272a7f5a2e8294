import { readFile } from 'node:fs/promises'
import { publishedStatus } from '../../domain/addresses/published-status.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Digest } from '../../ports/digest.ts'
import { RetryAfter, Terminal } from '../../provider/errors.ts'
import type { BalancerIdentity, BalancerRecord, ProviderContext } from '../../provider/multicluster.ts'
import type { Haproxy } from './apply-configuration.ts'
import { type Change, createChangeQueue } from './change-queue.ts'
import { ConfigurationRefused } from './check-configuration.ts'
import { proxyName } from './proxy-name.ts'
import { createRecordStore } from './record-store.ts'
import { renderConfiguration } from './render-configuration.ts'
import type { RenderedConfiguration } from './rendered-configuration.ts'
import { isAsRendered } from './runtime-commands.ts'
import type { ServedRecord } from './served-record.ts'

/** What every kind of balancer shares: only the record of an object is the kind's own matter. */
export interface BalancerKeeper {
  get(context: ProviderContext): Promise<BalancerRecord | undefined>
  /** Serves the record that is decided. */
  keep(
    context: ProviderContext,
    decide: (own: ServedRecord | undefined, others: readonly ServedRecord[]) => ServedRecord,
  ): Promise<{ record: ServedRecord; by: 'nothing' | 'runtime' | 'reload' }>
  remove(context: ProviderContext): Promise<void>
  list(clusterId: string, kind: BalancerIdentity['kind']): Promise<BalancerIdentity[]>
}

/** How often servers that finish what they have are looked at. */
const LOOK_AT_LEAVING_MS = 5_000

export function createBalancerKeeper(haproxy: Haproxy, digest: Digest, clock: Clock): BalancerKeeper {
  const { options, runtime, logger } = haproxy
  const store = createRecordStore(options.stateDirectory, digest)
  const queue = createChangeQueue({ store, haproxy, digest, onLeaving: lookAgainSoon })
  let looking = false

  function lookAgainSoon(): void {
    if (looking) return
    looking = true
    clock.after(LOOK_AT_LEAVING_MS, () => {
      looking = false
      queue.tidy().catch((error) => logger.warn({ error: String(error) }, 'servers that leave could not be looked at'))
    })
  }

  async function make(change: Change, { signal, identity }: ProviderContext) {
    try {
      return await queue.make(change, signal)
    } catch (error) {
      if (!(error instanceof ConfigurationRefused)) throw error
      const { kind, namespace, name } = identity
      throw new Terminal(`HAProxy refuses the configuration with ${kind} ${namespace}/${name}: ${error.message}`)
    }
  }

  return {
    async get({ identity, signal }) {
      signal.throwIfAborted()
      const record = await store.read(identity)
      // Made, and stopped before it could be recorded.
      if (record === undefined) return (await isConfigured(proxyName(identity, digest))) ? {} : undefined
      const status = publishedStatus(record.addresses)
      const rendered = renderConfiguration(await store.list(), options, digest)
      const asRecorded = await isRunning(rendered, proxyName(identity, digest))
      return asRecorded ? { status, fingerprint: record.fingerprint } : { status }
    },
    async keep(context, decide) {
      const { identity, fence } = context
      const { record, by } = await make(
        {
          identity,
          decide: (own, others) => {
            refuseOlder(own, fence)
            return decide(own, others)
          },
        },
        context,
      )
      if (record === undefined) throw new Error('deleted at the same moment')
      return { record, by }
    },
    async remove(context) {
      const { identity, fence } = context
      const decide = (own: ServedRecord | undefined) => {
        refuseOlder(own, fence)
        return undefined
      }
      await make({ identity, decide }, context)
    },
    async list(clusterId, kind) {
      const identities = (await store.list()).map(({ identity }) => identity)
      return identities.filter((identity) => identity.clusterId === clusterId && identity.kind === kind)
    },
  }

  async function isConfigured(name: string): Promise<boolean> {
    const text = await readFile(options.configurationFile, 'utf8').catch(() => '')
    return text.includes(name)
  }

  /** Whether the object is served as it is recorded, by a process of the recorded structure. */
  async function isRunning({ generation, backends }: RenderedConfiguration, name: string): Promise<boolean> {
    if ((await runtime.generation()) !== generation) return false
    const own = backends.filter((backend) => backend.name.startsWith(name))
    if (own.length === 0) return true
    const running = Map.groupBy(await runtime.servers(own.map((each) => each.name)), ({ backend }) => backend)
    return own.every((backend) => isAsRendered(backend, running.get(backend.name) ?? []))
  }
}

/** A call of somebody who lost the lock on the object while it was under way. */
function refuseOlder(own: ServedRecord | undefined, fence: string): void {
  if (own !== undefined && isOlder(fence, own.fence)) {
    throw new RetryAfter(1_000, 'a newer holder of the lock on this object has been here')
  }
}

/** Decimal numbers of any length. */
function isOlder(fence: string, other: string): boolean {
  return /^\d+$/.test(fence) && /^\d+$/.test(other) && BigInt(fence) < BigInt(other)
}
