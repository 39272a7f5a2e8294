import { balancerId } from './balancer-id.ts'
import { type CaddyCertificate, type CaddyConfiguration, type CaddyServer, OURS } from './caddy-configuration.ts'
import { recordOf } from './caddy-record.ts'
import { renderServer, type ServedBalancer, type ServerSettings, type SharedAddresses } from './render-server.ts'

/** Balancers and certificates of ours in one Caddy. */
export interface CaddyContent {
  /** By `@id`. */
  balancers: ReadonlyMap<string, ServedBalancer>
  /** By tag. */
  certificates: ReadonlyMap<string, CaddyCertificate>
}

export function readContent({ apps }: CaddyConfiguration): CaddyContent {
  const balancers = new Map<string, ServedBalancer>()
  for (const [name, server] of Object.entries(apps?.http?.servers ?? {})) {
    if (!isOurs(name)) continue
    for (const route of server?.routes ?? []) {
      const record = recordOf(route)
      if (record === undefined) continue
      const id = balancerId(record.identity)
      if (!balancers.has(id)) balancers.set(id, { record, route: { '@id': id, ...route } })
    }
  }
  const certificates = (apps?.tls?.certificates?.load_pem ?? []).flatMap((each) => {
    const tag = ourTag(each)
    return tag === undefined || each === null ? [] : [[tag, each] as const]
  })
  return { balancers, certificates: new Map(certificates) }
}

/** The configuration with our content in the place of what is ours in it; whatever else is in there stays as it is. */
export function renderConfiguration(
  configuration: CaddyConfiguration,
  { balancers, certificates }: CaddyContent,
  settings: ServerSettings,
): CaddyConfiguration {
  const inOrder = [...balancers].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, balancer]) => balancer)
  const withServers = putServers(configuration, serversOf(inOrder, settings), settings)
  const wanted = new Set(inOrder.flatMap(({ record }) => record.certificates.map(({ tag }) => tag)))
  if (settings.defaultCertificateTag !== undefined && inOrder.length > 0) wanted.add(settings.defaultCertificateTag)
  return putCertificates(
    withServers,
    [...wanted].sort().flatMap((tag) => certificates.get(tag) ?? []),
  )
}

function serversOf(balancers: readonly ServedBalancer[], settings: ServerSettings): Record<string, CaddyServer> {
  const named = new Set<string>()
  const servers = sharedAddresses(balancers).map(({ listen, balancers: on }) => {
    const server = renderServer({ listen, balancers: on.map((balancer) => withIdOnce(balancer, named)) }, settings)
    return [`${OURS}-${listen[0] ?? ''}`, server] as const
  })
  return Object.fromEntries(servers)
}

/** An id may stand once in Caddy's configuration, a balancer may be on servers of several addresses. */
function withIdOnce({ record, route }: ServedBalancer, named: Set<string>): ServedBalancer {
  const { '@id': id = '', ...nameless } = route
  if (named.has(id)) return { record, route: nameless }
  named.add(id)
  return { record, route }
}

/** Addresses with the same balancers are one server, so that a change of a balancer is a change in one place. */
function sharedAddresses(balancers: readonly ServedBalancer[]): SharedAddresses[] {
  const byAddress = new Map<string, ServedBalancer[]>()
  for (const balancer of balancers) {
    const listen = new Set(balancer.record.assigned.addresses.map((address) => address.listen))
    for (const address of listen) byAddress.set(address, [...(byAddress.get(address) ?? []), balancer])
  }
  const addresses = [...byAddress].sort(([a], [b]) => (a < b ? -1 : 1))
  const groups = Map.groupBy(addresses, ([, on]) => on.map(({ record }) => balancerId(record.identity)).join(' '))
  return [...groups.values()].map((group) => ({
    listen: group.map(([address]) => address),
    balancers: group[0]?.[1] ?? [],
  }))
}

function putServers(
  configuration: CaddyConfiguration,
  ours: Record<string, CaddyServer>,
  { httpPort }: ServerSettings,
): CaddyConfiguration {
  const { apps } = configuration
  const all = Object.entries(apps?.http?.servers ?? {})
  const theirs = all.filter(([name]) => !isOurs(name))
  const hasOurs = Object.keys(ours).length > 0
  if (!hasOurs && all.length === theirs.length) return configuration
  return {
    ...configuration,
    apps: {
      ...apps,
      http: {
        ...apps?.http,
        ...(hasOurs ? plainPort(apps?.http?.http_port, httpPort, theirs.length > 0) : {}),
        servers: { ...Object.fromEntries(theirs), ...ours },
      },
    },
  }
}

const CADDY_HTTP_PORT = 80

/** The one port on which Caddy speaks plain HTTP on a server that has certificates, for all servers together. */
function plainPort(present: number | undefined, wanted: number, hasOthers: boolean): { http_port?: number } {
  if ((present ?? CADDY_HTTP_PORT) === wanted) return {}
  if (present === undefined && !hasOthers) return { http_port: wanted }
  const remedy = `set provider.options.httpPort to ${present ?? CADDY_HTTP_PORT}, or http_port in the configuration of Caddy`
  throw new Error(`Caddy speaks plain HTTP on port ${present ?? CADDY_HTTP_PORT} and not on ${wanted}: ${remedy}`)
}

function putCertificates(configuration: CaddyConfiguration, ours: readonly CaddyCertificate[]): CaddyConfiguration {
  const { apps } = configuration
  const all = apps?.tls?.certificates?.load_pem ?? []
  const theirs = all.filter((each) => ourTag(each) === undefined)
  if (ours.length === 0 && theirs.length === all.length) return configuration
  const certificates = { ...apps?.tls?.certificates, load_pem: [...theirs, ...ours] }
  return { ...configuration, apps: { ...apps, tls: { ...apps?.tls, certificates } } }
}

function isOurs(serverName: string): boolean {
  return serverName.startsWith(`${OURS}-`)
}

function ourTag(certificate: CaddyCertificate | null): string | undefined {
  return certificate?.tags?.find((tag) => tag.startsWith(`${OURS}:`))
}
