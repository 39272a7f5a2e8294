import type { Backends } from '../backends/backends.ts'
import { findPort } from '../backends/find-port.ts'
import type { Certificate } from '../backends/resolve-certificates.ts'
import { compareTexts } from '../compare-texts.ts'
import type { IngressBackend, IngressPath, IngressRule, MultiClusterIngress } from '../multi-cluster-ingress.ts'
import { compareRoutes } from './compare-routes.ts'
import { coversHost } from './covers-host.ts'
import { isRequestPath } from './is-request-path.ts'
import { isRuleHost } from './is-rule-host.ts'
import { planServers } from './plan-servers.ts'
import type { PlannedCertificate, PlannedRoute, PlannedUpstream, RoutePlan } from './route-plan.ts'
import type { RouteSettings } from './route-settings.ts'

/**
 * Resolves an ingress to what a proxy does. The ingress has lost the paths that an older one keeps (`host-conflicts.ts`).
 *
 * - A rule of a host without paths sends all of it to the default backend; so does an ingress without rules.
 * - ImplementationSpecific is Prefix. Of equal paths of a host the first written stays.
 * - Paths and hosts that no request can have are left out; `validateRoutes` names them.
 */
export function planIngressRoutes(
  ingress: MultiClusterIngress,
  backends: Backends,
  certificates: readonly Certificate[],
  settings: RouteSettings,
): RoutePlan {
  const { namespace = '' } = ingress.metadata
  const { rules = [], defaultBackend } = ingress.spec ?? {}
  const usable = planCertificates(certificates)
  const upstreams = new Map<string, PlannedUpstream>()
  const upstreamOf = (backend: IngressBackend | undefined): { upstream?: string } => {
    const planned = backend && planUpstream(namespace, backend, backends, settings)
    if (planned === undefined) return {}
    if (!upstreams.has(planned.key)) upstreams.set(planned.key, planned)
    return { upstream: planned.key }
  }
  const routes = rules.flatMap((rule) =>
    pathsOf(rule, defaultBackend).map(({ backend, ...where }): PlannedRoute => {
      const tls = usable.some(({ hosts }) => coversHost(hosts, where.host))
      return { ...where, ...upstreamOf(backend), tls }
    }),
  )
  const { upstream: defaultUpstream } = upstreamOf(defaultBackend)
  return {
    routes: firstOfEach(routes).sort(compareRoutes),
    ...(defaultUpstream === undefined ? {} : { defaultUpstream }),
    upstreams: [...upstreams.values()].sort((a, b) => compareTexts(a.key, b.key)),
    certificates: usable,
    options: settings.options,
  }
}

type Where = Pick<PlannedRoute, 'host' | 'match' | 'path'> & { backend: IngressBackend }

function pathsOf({ host = '', http }: IngressRule, defaultBackend: IngressBackend | undefined): Where[] {
  const name = host.toLowerCase()
  if (name !== '' && !isRuleHost(name)) return []
  const paths = http?.paths ?? []
  if (paths.length > 0)
    return paths.filter(isRoutable).map((entry) => ({ host: name, ...matchOf(entry), backend: entry.backend }))
  if (name === '' || defaultBackend === undefined) return []
  return [{ host: name, match: 'Prefix', path: '/', backend: defaultBackend }]
}

function isRoutable({ path }: IngressPath): boolean {
  return isRequestPath(path || '/')
}

function matchOf({ path, pathType }: IngressPath): Pick<PlannedRoute, 'match' | 'path'> {
  const whole = path || '/'
  if (pathType === 'Exact') return { match: 'Exact', path: whole }
  return { match: 'Prefix', path: whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole }
}

function firstOfEach(routes: readonly PlannedRoute[]): PlannedRoute[] {
  const byIdentity = new Map<string, PlannedRoute>()
  for (const route of routes) {
    const identity = `${route.host} ${route.match} ${route.path}`
    if (!byIdentity.has(identity)) byIdentity.set(identity, route)
  }
  return [...byIdentity.values()]
}

function planUpstream(
  namespace: string,
  backend: IngressBackend,
  backends: Backends,
  { clusterWeights, backendProtocol }: RouteSettings,
): PlannedUpstream | undefined {
  const found = findPort(backends, namespace, backend)
  if (found === undefined) return undefined
  const { service, port } = found
  const key = `${service.name}:${port.port ?? port.name}`
  // A stored object need not have passed validation, and a key gets into a proxy's configuration.
  if (!/^[a-z0-9][-a-z0-9.]*:[-a-z0-9]+$/.test(key)) return undefined
  return { key, protocol: backendProtocol ?? protocolOf(port.appProtocol), ...planServers(port, clusterWeights) }
}

/** Names of IANA, and of Kubernetes (KEP-3726). */
function protocolOf(appProtocol = ''): PlannedUpstream['protocol'] {
  switch (appProtocol.toLowerCase()) {
    case 'https':
    case 'kubernetes.io/wss':
      return 'https'
    case 'kubernetes.io/h2c':
      return 'h2c'
    default:
      return 'http'
  }
}

/** Without the names that no host can have; a certificate that loses all of them is for none, not for every one. */
function planCertificates(certificates: readonly Certificate[]): PlannedCertificate[] {
  return certificates
    .flatMap(({ hosts, secretName, certificate, key }) => {
      const names = [...new Set(hosts.map((host) => host.toLowerCase()))].filter(isRuleHost).sort()
      const isForNone = hosts.length > 0 && names.length === 0
      if (secretName === undefined || certificate === undefined || key === undefined || isForNone) return []
      return [{ hosts: names, secretName, certificate, key }]
    })
    .sort((a, b) => compareTexts(a.hosts[0] ?? '', b.hosts[0] ?? '') || compareTexts(a.secretName, b.secretName))
}
