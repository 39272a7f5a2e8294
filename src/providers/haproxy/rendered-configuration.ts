/** What HAProxy is to run, derived from records and options alone. Equal records give equal configurations. */
export interface RenderedConfiguration {
  /** The file that HAProxy starts from, servers included. */
  text: string
  /**
   * A digest of what only a reload can change. HAProxy carries it in its environment and tells it on its socket, so that
   * anybody can see what a process was started with.
   */
  generation: string
  backends: RenderedBackend[]
  /** By absolute path. */
  maps: RenderedMap[]
  certificates: RenderedCertificate[]
  certificateLists: RenderedCertificateList[]
}

/** What one kind of object adds to the configuration. */
export interface RenderedPart {
  sections: RenderedSection[]
  maps?: RenderedMap[]
  certificates?: RenderedCertificate[]
  certificateLists?: RenderedCertificateList[]
}

export type RenderedSection = RenderedFrontend | RenderedBackend

export interface RenderedFrontend {
  /** `frontend mcs_shop_web_1f2e_80` */
  header: string
  lines: string[]
}

/** Its servers come and go without a reload; all else is of the generation. */
export interface RenderedBackend extends RenderedFrontend {
  name: string
  /** By name. */
  servers: RenderedServer[]
  /** The same for every server, on its line and in `add server`. Must hold only what `add server` knows. */
  serverArguments: string[]
  /** Clients are remembered in a table of the backend's name, and forgotten where their server takes nothing new. */
  remembersClients: boolean
  /**
   * By a cookie, whose value HAProxy has to make for a server that is added. As long as a server drains, clients with its
   * cookie go on being sent there.
   */
  namesServersInCookie: boolean
}

export interface RenderedServer {
  /** Stands for address and port, so that neither ever changes. */
  name: string
  /** `10.1.0.7` or `fd00::7`. */
  address: string
  port: number
  /** 0 to 256; 0 takes no new connections. */
  weight: number
}

/** Its entries are exchanged as a whole, at once. */
export interface RenderedMap {
  path: string
  /** In the order in which HAProxy looks. Keys and values are words without blanks. */
  entries: (readonly [key: string, value: string])[]
}

/** Holds a key: written for the owner alone, and never to be logged. */
export interface RenderedCertificate {
  path: string
  /** Key, certificate and chain. */
  pem: string
}

export interface RenderedCertificateList {
  path: string
  /** `/…/certificates/one.pem [alpn h2,http/1.1] example.com *.example.com` */
  entries: { certificate: string; arguments: string[]; names: string[] }[]
}

export function isBackend(section: RenderedSection): section is RenderedBackend {
  return 'servers' in section
}
