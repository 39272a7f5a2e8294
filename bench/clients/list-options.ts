export interface ListPagesOptions {
  url: string
  caPem: string
  token: string
  /** Collections, as the API server's paths name them. */
  paths: string[]
  limit: number
}

export interface ListPagesResult {
  ms: number
  cpuMs: number
  items: number
}
