import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node'
import { Agent, type Dispatcher } from 'undici'
import type { Clock } from '../../ports/clock.ts'

/** What a request needs besides its own words. */
export interface Credentials {
  origin: string
  /** Before every path, where the API server is behind one; else empty. */
  basePath: string
  /** The name and port of the API server. */
  host: string
  headers: Record<string, string>
  /** Shared by all requests, so that connections are kept. */
  dispatcher: Dispatcher
}

export interface CredentialSource {
  /** Without waiting while what is known is fresh. Rejects when a file or an exec plugin of the kubeconfig fails. */
  current(): Credentials | Promise<Credentials>
  /** After a 401 to these: the next `current()` asks again, whatever is remembered. */
  expire(refused: Credentials): void
  close(): Promise<void>
}

// Projected ServiceAccount tokens are replaced at 80 % of an hour; a re-read every few seconds is always in time.
const FRESH_FOR_MS = 10_000
const EXPIRED = Number.NEGATIVE_INFINITY

/**
 * The library makes a new dispatcher, and with it a new TLS connection, for every request. Here one is kept until the
 * CA or the client certificate changes, and headers (token files, exec plugins) are renewed now and then.
 */
export function createCredentialSource(kubeConfig: KubeConfig, clock: Clock): CredentialSource {
  let config = kubeConfig
  let known: (Credentials & { until: number; identity: string }) | undefined
  let renewing: Promise<Credentials> | undefined

  async function renew(): Promise<Credentials> {
    // Asked first: a file replaced in between is then noticed the next time.
    const identity = await tlsIdentity(config)
    const fresh = { ...(await fromLibrary(config)), identity, until: clock.now() + FRESH_FOR_MS }
    if (known?.identity === identity) {
      void fresh.dispatcher.destroy().catch(ignore)
      known = { ...fresh, dispatcher: known.dispatcher }
    } else {
      // Requests on their way are finished first.
      void known?.dispatcher.close().catch(ignore)
      known = fresh
    }
    return known
  }

  return {
    current() {
      if (known !== undefined && known.until > clock.now()) return known
      renewing ??= renew().finally(() => {
        renewing = undefined
      })
      return renewing
    },
    expire(refused) {
      // Of many that were refused at once the first asks for all.
      if (known !== refused || known.until === EXPIRED) return
      known.until = EXPIRED
      config = withoutMemory(config)
    },
    async close() {
      await known?.dispatcher.destroy()
    },
  }
}

async function fromLibrary(config: KubeConfig): Promise<Credentials> {
  const server = config.getCurrentCluster()?.server ?? ''
  const { origin, host, pathname } = new URL(server)
  const context = new RequestContext(server, HttpMethod.GET)
  await config.applySecurityAuthentication(context)
  const headers = { ...context.getHeaders(), ...(await fromTokenFile(config)) }
  // Where the kubeconfig says nothing of TLS the library leaves it to the global one.
  const dispatcher = context.getDispatcher() ?? new Agent()
  return { origin, host, basePath: pathname.replace(/\/$/, ''), headers, dispatcher }
}

/** The library keeps the content for a minute, its line end included. */
async function fromTokenFile(config: KubeConfig): Promise<Record<string, string>> {
  const settings: unknown = config.getCurrentUser()?.authProvider?.config
  if (typeof settings !== 'object' || settings === null || !('tokenFile' in settings)) return {}
  const token = await readFile(String(settings.tokenFile), 'utf8')
  return { Authorization: `Bearer ${token.trim()}` }
}

/** Of all that decides a TLS connection; files are read anew, since they are replaced in place. */
async function tlsIdentity(config: KubeConfig): Promise<string> {
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  return JSON.stringify([options.ca, options.cert, options.key].map((part) => String(part ?? '')))
}

/** The same kubeconfig; what the library remembers of exec plugins is left behind. */
function withoutMemory(config: KubeConfig): KubeConfig {
  const copy = new KubeConfig()
  copy.loadFromOptions({
    clusters: config.getClusters(),
    users: config.getUsers(),
    contexts: config.getContexts(),
    currentContext: config.getCurrentContext(),
  })
  return copy
}

/** The dispatcher is out of use already; what it says at its end interests nobody. */
function ignore(): void {}
