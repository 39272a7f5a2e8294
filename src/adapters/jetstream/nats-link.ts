import { readFile } from 'node:fs/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

export interface NatsLinkOptions {
  /** `host:port` or `nats://…`, `tls://…` URLs; any of one cluster. */
  servers: readonly string[]
  /** A file as `nsc` writes it. */
  credentialsFile?: string
  /** PEM certificates that are trusted for the servers. */
  caFile?: string
  clock: Clock
  logger: Logger
}

type Manager = Awaited<ReturnType<typeof jetstreamManager>>

/** A connection that is kept up: before the first time, too, so that the function starts without its broker. */
export interface NatsLink {
  /** Undefined while there is no connection, or what is needed on the server is not there yet. */
  current(): { connection: NatsConnection; manager: Manager } | undefined
  /** Resolves when everything is there for the first time. */
  begun: Promise<void>
  /** Something that is needed on the server was not there: it is made again. */
  prepareAgain(): void
  close(): Promise<void>
}

const RETRY_MS = 1_000

/** `prepare` makes sure of what is needed on the server; it is tried until it succeeds. */
export function openNatsLink(options: NatsLinkOptions, prepare: (manager: Manager) => Promise<void>): NatsLink {
  const { clock, logger } = options
  const closing = new AbortController()
  let connection: NatsConnection | undefined
  let manager: Manager | undefined
  let isConnected = false
  let isPrepared = false
  let isAtIt = false
  const begun = Promise.withResolvers<void>()

  async function keepUp(): Promise<void> {
    if (isAtIt) return
    isAtIt = true
    while (!closing.signal.aborted && !isPrepared) {
      try {
        connection ??= await open()
        manager ??= await jetstreamManager(connection, { checkAPI: false })
        await prepare(manager)
        isPrepared = true
        begun.resolve()
      } catch (error) {
        logger.warn(
          { error: String(error) },
          'the message broker is not ready; the sweep finds what it would have told',
        )
        await pause(RETRY_MS)
      }
    }
    isAtIt = false
    if (closing.signal.aborted) await connection?.close()
  }

  async function open(): Promise<NatsConnection> {
    const opened = await connect(await connectionOptions(options))
    isConnected = true
    void follow(opened)
    return opened
  }

  async function follow(opened: NatsConnection): Promise<void> {
    for await (const { type } of opened.status()) {
      if (type === 'disconnect') isConnected = false
      if (type === 'reconnect') isConnected = true
      if (type === 'disconnect' || type === 'reconnect') logger.info({ type }, 'message broker')
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      clock.after(ms, resolve)
      closing.signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  void keepUp()
  return {
    begun: begun.promise,
    current: () =>
      isConnected && isPrepared && connection !== undefined && manager !== undefined
        ? { connection, manager }
        : undefined,
    prepareAgain() {
      isPrepared = false
      void keepUp()
    },
    async close() {
      closing.abort()
      // What was acknowledged is on its way.
      if (isConnected) await connection?.flush().catch(() => {})
      await connection?.close()
    },
  }
}

async function connectionOptions({ servers, credentialsFile, caFile }: NatsLinkOptions): Promise<ConnectionOptions> {
  return {
    servers: [...servers],
    name: 'webhook-cloud-provider',
    timeout: 5_000,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    // A credential that was refused may have been renewed since.
    ignoreAuthErrorAbort: true,
    ...(caFile === undefined ? {} : { tls: { caFile } }),
    ...(credentialsFile === undefined ? {} : { authenticator: credsAuthenticator(await readFile(credentialsFile)) }),
  }
}
