import type { Target } from './target.ts'

/** One request of many: when it began and ended (`performance.now()`), and who answered or why nobody did. */
export interface Request {
  from: number
  to: number
  pod?: string
  cluster?: string
  /** `status 502`, `ECONNRESET`, `timeout` … */
  failure?: string
  fingerprint?: string
  /** Over a new connection, since the one before was closed under it. */
  isRepeated?: boolean
}

export interface LoadOptions {
  connections: number
  /** Whether a connection is used again for the next request. */
  reuse: boolean
  /** Of each connection, after each request. */
  pauseMs: number
}

/** What a thread of clients is started with. */
export interface LoadClients {
  target: Target
  options: LoadOptions
}

/** A request that ended, and where this thread's clock begins. */
export interface ToldRequest {
  origin: number
  request: Request
}
