/** Where clients ask, and what. */
export interface Target {
  protocol: 'http' | 'https' | 'tcp'
  address: string
  port: number
  /** Host header and server name; the address when absent. */
  host?: string
  /** `/` when absent. */
  path?: string
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
  /** PEM of the authority that is trusted. */
  caPem?: string
  /** The client's own address. */
  from?: string
  /** Sent before everything else on a connection of TCP: a PROXY header. */
  preamble?: string
}

/** What came back, whatever it is. */
export interface Reply {
  /** 0 over TCP. */
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
  /** Of the pod that answered; undefined where none did. */
  pod?: PodAnswer
  /** SHA-256 of the certificate that was served. */
  fingerprint?: string
  /** Set where the connection that was asked first was closed in that moment. */
  isRepeated?: boolean
}

export interface PodAnswer {
  cluster: string
  pod: string
  /** Whom the pod takes for its client. */
  from?: string
  /** As the pod got it. */
  url?: string
  method?: string
  headers?: Record<string, string>
  bytes?: number
}
