import { bufferFromFileOrString, HttpMethod, type KubeConfig, RequestContext } from '@kubernetes/client-node'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../ports/clock.ts'

/** What a request needs besides its own words. */
export interface Credentials {
  server: string
  headers: Record<string, string>
  /** Shared by all requests, so that connections are kept. */
  dispatcher: Dispatcher | undefined
}

export interface CredentialSource {
  current(): Promise<Credentials>
  /** After a 401: the next `current()` asks again. */
  expire(): void
  close(): Promise<void>
}

// Projected ServiceAccount tokens are replaced at 80 % of an hour; a re-read every few seconds is always in time.
const FRESH_FOR_MS = 10_000

/**
 * The library makes a new dispatcher, and with it a new TLS connection, for every request. Here one is kept until the
 * CA or the client certificate changes, and headers (token files, exec plugins) are renewed now and then.
 */
export function createCredentialSource(config: KubeConfig, clock: Clock): CredentialSource {
  let known: (Credentials & { until: number; identity: string }) | undefined

  async function renew(): Promise<Credentials> {
    const { server, headers, dispatcher } = await fromLibrary(config)
    const identity = tlsIdentity(config)
    const same = known !== undefined && known.identity === identity
    const kept = same ? known?.dispatcher : dispatcher
    if (!same) void known?.dispatcher?.close()
    if (same && dispatcher !== kept) void dispatcher?.close()
    known = { server, headers, dispatcher: kept, until: clock.now() + FRESH_FOR_MS, identity }
    return known
  }

  return {
    current: async () => (known !== undefined && known.until > clock.now() ? known : renew()),
    expire() {
      if (known !== undefined) known.until = 0
    },
    async close() {
      await known?.dispatcher?.destroy()
    },
  }
}

async function fromLibrary(config: KubeConfig): Promise<Credentials> {
  const server = config.getCurrentCluster()?.server ?? ''
  const context = new RequestContext(server, HttpMethod.GET)
  await config.applySecurityAuthentication(context)
  return { server: server.replace(/\/$/, ''), headers: context.getHeaders(), dispatcher: context.getDispatcher() }
}

/** Of all that decides a TLS connection; files are read anew, since they are replaced in place. */
function tlsIdentity(config: KubeConfig): string {
  const cluster = config.getCurrentCluster()
  const user = config.getCurrentUser()
  const parts = [
    bufferFromFileOrString(cluster?.caFile, cluster?.caData),
    bufferFromFileOrString(user?.certFile, user?.certData),
    bufferFromFileOrString(user?.keyFile, user?.keyData),
  ]
  return parts.map((part) => part?.toString('base64') ?? '').join('|')
}
