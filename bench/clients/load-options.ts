export interface LoadOptions {
  port: number
  path: string
  caFile: string
  bodyFile: string
  connections: number
  /** Of all connections together; those that are sent before are not counted. */
  requests: number
  warmUp: number
}

export interface LoadResult {
  perSecond: number
  /** Microseconds from the request written to the answer read. */
  p50: number
  p99: number
}
