/**
 * What a layer 7 balancer does for one MultiClusterIngress, in nobody's configuration language: the ingress, its
 * annotations, backends and certificates, resolved. A provider renders it and decides nothing.
 *
 * Lists are sorted and without duplicates, so equal worlds give equal plans. Never to be logged whole: it holds keys.
 */
export interface RoutePlan {
  /** By precedence (`compareRoutes`), so the first that matches is the one. */
  routes: PlannedRoute[]
  /** For requests that no route of any object on the address takes; a key of `upstreams`. */
  defaultUpstream?: string
  /** One for every Service port, whatever number of routes goes there. By key. */
  upstreams: PlannedUpstream[]
  /** By first host; those without a usable Secret are left out. */
  certificates: PlannedCertificate[]
  options: RouteOptions
}

/** One path of one host. */
export interface PlannedRoute {
  /** Lower case; `*.example.com` stands for exactly one label; empty for any host. */
  host: string
  /** `Exact`: equal, byte for byte. `Prefix`: by elements; ImplementationSpecific is this. */
  match: 'Exact' | 'Prefix'
  /** Begins with `/`. A Prefix has no slash at its end, but for `/` itself. */
  path: string
  /** A key of `upstreams`; absent where nothing can be sent to: answered with 503. */
  upstream?: string
  /** Whether a certificate covers the host, so that it is served over TLS, and redirected there if so asked. */
  tls: boolean
}

/** A Service port, as a group of servers. */
export interface PlannedUpstream {
  /** `web:80`: Service and port, unique in the plan. */
  key: string
  /** `https`: towards pods over TLS, unverified, as the API has nothing to verify with. From appProtocol or annotation. */
  protocol: 'http' | 'https' | 'h2c'
  /**
   * `held`: the servers are the last known ones, or none: where there are none, what is served stays.
   * Without servers in any other state requests are answered with 503.
   */
  state: 'serving' | 'held' | 'empty'
  servers: PlannedServer[]
}

export interface PlannedServer {
  address: string
  port: number
  cluster: string
  /** 1 to 256, of new requests; 0 for a server that only finishes what it has. */
  weight: number
}

export interface PlannedCertificate {
  /** Names for SNI, in lower case; empty means every name. */
  hosts: string[]
  secretName: string
  /** PEM, chain included. */
  certificate: string
  /** PEM. Never to be logged. */
  key: string
}

/** From annotations (`route-settings.ts`), with all defaults filled in. */
export interface RouteOptions {
  /** Requests over plain HTTP for hosts with a certificate are sent to HTTPS; the status, 0 for no redirect. */
  tlsRedirect: 0 | 301 | 302 | 307 | 308
  /** Replaces what the path matched. Absent: the path goes to the backend as it came. */
  rewriteTarget?: string
  healthCheck?: PlannedHealthCheck
  /** Failures in a row of real requests that take a server out for `passiveSeconds`; 0 for never. */
  passiveFailures: number
  passiveSeconds: number
  /** Added to requests on their way to backends, and to answers; by name. An empty value removes the header. */
  requestHeaders: Readonly<Record<string, string>>
  responseHeaders: Readonly<Record<string, string>>
  connectTimeoutSeconds: number
  /** Until the answer begins. */
  responseTimeoutSeconds: number
  idleTimeoutSeconds: number
  /** In bytes; 0 for any size. */
  requestBodyLimit: number
  affinity: 'none' | 'source-ip' | 'cookie'
}

export interface PlannedHealthCheck {
  protocol: 'tcp' | 'http' | 'https'
  /** Of http and https. */
  path: string
  /** Instead of the port of the server. */
  port?: number
  intervalSeconds: number
  timeoutSeconds: number
  healthyThreshold: number
  unhealthyThreshold: number
}
