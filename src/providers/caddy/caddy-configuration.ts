/**
 * What is read and written of Caddy's JSON (https://caddyserver.com/docs/json/), as of Caddy 2.6. Whatever else is in
 * there belongs to somebody else, and is carried along as it came. Caddy takes null for a list or an object.
 */
export interface CaddyConfiguration {
  apps?: {
    http?: { http_port?: number; servers?: Record<string, CaddyServer | null> | null } & Foreign
    tls?: { certificates?: { load_pem?: (CaddyCertificate | null)[] } & Foreign } & Foreign
  } & Foreign
  [other: string]: unknown
}

type Foreign = Record<string, unknown>

export interface CaddyServer {
  listen?: string[]
  routes?: CaddyRoute[] | null
  tls_connection_policies?: CaddyConnectionPolicy[]
  automatic_https?: { disable: boolean }
  protocols?: string[]
}

export interface CaddyRoute {
  /** Makes the route addressable: `GET /id/<@id>`. */
  '@id'?: string
  /** Of the routes of one group only the first that matches is applied. */
  group?: string
  match?: CaddyObject[]
  handle?: CaddyHandler[]
}

export type CaddyObject = Readonly<Record<string, unknown>>

export interface CaddyHandler {
  handler: string
  [setting: string]: unknown
}

export interface CaddyCertificate {
  /** PEM. */
  certificate: string
  /** PEM. Never to be logged. */
  key: string
  tags?: string[] | null
}

export interface CaddyConnectionPolicy {
  match?: { sni: string[] }
  certificate_selection: { any_tag: string[] }
}

/** What is ours in a Caddy that others use too begins with this: servers, ids, variables, groups and tags. */
export const OURS = 'webhook-cloud-provider'

/** Set for each request by the dispatching route of an address, and asked by the routes of balancers; empty for none. */
export const BALANCER_VARIABLE = `${OURS}.balancer`
export const UPSTREAM_VARIABLE = `${OURS}.upstream`
/** The place of the route among those of its balancer, where its path is rewritten. */
export const ROUTE_VARIABLE = `${OURS}.route`
