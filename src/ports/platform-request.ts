/** A request that reached a platform which listens itself and hands over what came. */
export interface PlatformRequest {
  method: string
  /** Path and query as they stood in the request line, not decoded. */
  url: string
  /** Names in any case; a list where a header came more than once. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>
  body: Uint8Array
  /** Of whoever sent it, where the platform vouches for it. */
  remoteAddress?: string
}

/** What the platform is to send. Headers of the connection and of the message's framing are left to it. */
export interface PlatformAnswer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string | string[]>
  body: Buffer
}
