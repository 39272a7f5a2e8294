import { publishedStatus } from '../../domain/addresses/published-status.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Digest } from '../../ports/digest.ts'
import { RetryAfter, Terminal } from '../../provider/errors.ts'
import type { BalancerIdentity, BalancerRecord, ProviderContext } from '../../provider/multicluster.ts'
import type { Haproxy } from './apply-configuration.ts'
import { type Change, createChangeQueue } from './change-queue.ts'
import { ConfigurationRefused } from './check-configuration.ts'
import { configurationFile, differingFiles, filesStamp, namedFiles } from './configuration-files.ts'
import { HaproxyUnreachable } from './haproxy-socket.ts'
import { proxyName } from './proxy-name.ts'
import { createRecordStore } from './record-store.ts'
import { renderConfiguration } from './render-configuration.ts'
import type { RenderedConfiguration } from './rendered-configuration.ts'
import { isAsRendered } from './runtime-commands.ts'
import type { ServedRecord } from './served-record.ts'

/** What every kind of balancer shares: only the record of an object is the kind's own matter. */
export interface BalancerKeeper {
  /** Makes files and process what is recorded. */
  start(): Promise<void>
  get(context: ProviderContext): Promise<BalancerRecord | undefined>
  /** Serves the record that is decided. */
  keep(
    context: ProviderContext,
    decide: (own: ServedRecord | undefined, others: readonly ServedRecord[]) => ServedRecord,
  ): Promise<{ record: ServedRecord; changed: boolean }>
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
  let right: { stamp: string; configuration: RenderedConfiguration } | undefined
  let rendered: { version: string; configuration: RenderedConfiguration } | undefined

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
    async start() {
      try {
        await queue.tidy()
      } catch (error) {
        if (!(error instanceof HaproxyUnreachable)) throw error
        // It may have been brought up by that: what is prepared is what is recorded.
        await queue.tidy()
      }
    },
    async get({ identity, signal }) {
      signal.throwIfAborted()
      const name = proxyName(identity, digest)
      const record = await store.read(identity)
      try {
        // Without a record: made, and stopped before it could be recorded.
        if (record === undefined) return (await hasProxies(name)) ? {} : undefined
        const status = publishedStatus(record.addresses)
        return (await isServed(name)) ? { status, fingerprint: record.fingerprint } : { status }
      } catch (error) {
        if (error instanceof HaproxyUnreachable) await queue.prepareStart()
        throw error
      }
    },
    async keep(context, decide) {
      const { identity, fence } = context
      const { record, changed } = await make({ identity, fence, decide }, context)
      if (record === undefined) throw new RetryAfter(1_000, 'it was removed at the same moment')
      return { record, changed }
    },
    async remove(context) {
      const { identity, fence } = context
      await make({ identity, fence, decide: () => undefined }, context)
    },
    async list(clusterId, kind) {
      const identities = (await store.list()).map(({ identity }) => identity)
      return identities.filter((identity) => identity.clusterId === clusterId && identity.kind === kind)
    },
  }

  async function hasProxies(name: string): Promise<boolean> {
    return (await runtime.backends()).some((backend) => backend.startsWith(name))
  }

  /** As it is recorded, by a process of the recorded structure, and by its files. */
  async function isServed(name: string): Promise<boolean> {
    const configuration = await recorded()
    const { generation, backends } = configuration
    if ((await runtime.generation()) !== generation) return false
    if (!(await filesAreRight(configuration))) return false
    const own = backends.filter((backend) => backend.name.startsWith(name))
    if (own.length === 0) return true
    const running = Map.groupBy(await runtime.servers(own.map((each) => each.name)), ({ backend }) => backend)
    return own.every((backend) => isAsRendered(backend, running.get(backend.name) ?? []))
  }

  /** Whether HAProxy would start as it runs: files are read again only where one of them may have changed. */
  async function filesAreRight(configuration: RenderedConfiguration): Promise<boolean> {
    const stamp = await filesStamp(options)
    if (right?.stamp === stamp && right.configuration === configuration) return true
    const files = [...namedFiles(configuration), configurationFile(configuration, options)]
    if ((await differingFiles(files)).length > 0) return false
    right = { stamp, configuration }
    return true
  }

  /** A sweep asks for every object, while nothing changes. */
  async function recorded(): Promise<RenderedConfiguration> {
    const version = await store.version()
    if (rendered?.version !== version) {
      rendered = { version, configuration: renderConfiguration(await store.list(), options, digest) }
    }
    return rendered.configuration
  }
}
