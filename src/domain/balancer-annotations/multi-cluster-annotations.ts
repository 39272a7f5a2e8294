import { parseCidr } from '../cidr.ts'
import { parseIpAddress } from '../ip-address.ts'
import { clusterNameFaults } from '../validation/name-faults.ts'
import { type AnnotationValue, dnsName, flag, listOf, name, oneOf, shaped, wholeNumber } from './annotation-values.ts'
import { headerList } from './header-list.ts'
import type { MultiClusterKind, MultiClusterOptions } from './multi-cluster-options.ts'
import type { AnnotationRow } from './parse-annotations.ts'

type MultiClusterAnnotation = AnnotationRow<MultiClusterOptions> & {
  /** Layer 7, layer 4, or both. */
  kinds: readonly MultiClusterKind[]
  /** What holds where it is absent. */
  byDefault: string
  meaning: string
}

const clusterWeights: AnnotationValue<Record<string, number>> = {
  values: '`cluster=weight`, separated by commas; 0 to 256',
  parse(text) {
    const pairs = text.split(',').map((pair) => pair.trim().split('='))
    const isPair = ([cluster = '', weight = '', ...rest]: string[]) =>
      clusterNameFaults(cluster).length === 0 && 'value' in wholeNumber(0, 256).parse(weight) && rest.length === 0
    if (!pairs.every(isPair))
      return { fault: 'must be cluster=weight, separated by commas, with weights from 0 to 256' }
    const clusters = new Set(pairs.map(([cluster]) => cluster))
    if (clusters.size < pairs.length) return { fault: 'must not name a cluster twice' }
    return { value: Object.fromEntries(pairs.map(([cluster, weight]) => [cluster, Number(weight)])) }
  },
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

const size: AnnotationValue<number> = {
  values: 'bytes, such as `65536`, `64k`, `8m`, `1g`; at most `16g`; 0 for any size',
  parse(text) {
    const [, digits = '', unit = ''] = /^(\d{1,11})([kmg]?)$/.exec(text) ?? []
    const bytes = Number(digits) * (UNITS[unit] ?? 1)
    return digits !== '' && bytes <= 16 * 2 ** 30
      ? { value: bytes }
      : { fault: 'must be a number of bytes, or of k, m or g; at most 16g' }
  },
}

/** Letters of a URL that mean nothing in the configuration of any proxy. */
const isPlainPath = (text: string) =>
  text.length <= 1024 && /^\/([-A-Za-z0-9._~!*+,;=:@/]|%[0-9A-Fa-f]{2})*$/.test(text) && !/\/\.\.?(\/|$)/.test(text)

const isAskedPath = (text: string) => {
  const [path = '', query = '', ...rest] = text.split('?')
  return isPlainPath(path) && /^[-A-Za-z0-9._~!*+,;=:@/&]{0,1024}$/.test(query) && rest.length === 0
}

const network = (text: string) => (parseCidr(text) === undefined ? undefined : text)
const address = (text: string) => (parseIpAddress(text) === undefined ? undefined : text)
const family = (text: string) => (['IPv4', 'IPv6'] as const).find((known) => known === text)

const both = { kinds: ['MultiClusterIngress', 'MultiClusterService'] } as const
const ingress = { kinds: ['MultiClusterIngress'] } as const
const service = { kinds: ['MultiClusterService'] } as const

/** One row an annotation. Parser, ranges, documentation and typed options come from here and nowhere else. */
export const MULTI_CLUSTER_ANNOTATIONS: Readonly<Record<string, MultiClusterAnnotation>> = {
  'cluster-weights': {
    option: 'clusterWeights',
    ...clusterWeights,
    ...both,
    byDefault: 'every endpoint the same',
    meaning:
      'Shares of new traffic, each shared by the ready endpoints of the cluster, whatever their number. A cluster that is not named has 1; 0 gets nothing new.',
  },
  'backend-protocol': {
    option: 'backendProtocol',
    ...oneOf('http', 'https', 'h2c'),
    ...ingress,
    byDefault: '`appProtocol` of the Service port',
    meaning: 'What pods speak. Certificates of pods are not verified.',
  },
  'redirect-http-to-https': {
    option: 'redirectHttpToHttps',
    ...flag,
    ...ingress,
    byDefault: '`false`',
    meaning: 'Plain HTTP for hosts with a certificate is answered with a redirect.',
  },
  'redirect-status': {
    option: 'redirectStatus',
    ...oneOf('301', '302', '307', '308'),
    ...ingress,
    byDefault: '`308`',
    meaning: 'Of that redirect.',
  },
  'rewrite-target': {
    option: 'rewriteTarget',
    ...shaped('a path of letters, digits, -._~!*+,;=:@ and %XX', isPlainPath),
    ...ingress,
    byDefault: 'the path as it came',
    meaning: 'Takes the place of what the path of the rule matched; the rest of the path follows.',
  },
  'request-headers': {
    option: 'requestHeaders',
    ...headerList,
    ...ingress,
    byDefault: 'none',
    meaning: 'Set on requests to pods; without a value, removed.',
  },
  'response-headers': {
    option: 'responseHeaders',
    ...headerList,
    ...ingress,
    byDefault: 'none',
    meaning: 'Set on answers of pods; without a value, removed.',
  },
  'request-body-limit': {
    option: 'requestBodyLimit',
    ...size,
    ...ingress,
    byDefault: '0',
    meaning: 'Larger requests are answered with 413.',
  },
  'health-check-protocol': {
    option: 'healthCheckProtocol',
    ...oneOf('tcp', 'http', 'https'),
    ...both,
    byDefault: '`http` with a path, else `tcp`',
    meaning: 'How a pod is asked whether it serves. With any of the `health-check` annotations pods are asked.',
  },
  'health-check-port': {
    option: 'healthCheckPort',
    ...wholeNumber(1, 65_535),
    ...both,
    byDefault: 'the one of the traffic',
    meaning: 'Where it is asked.',
  },
  'health-check-path': {
    option: 'healthCheckPath',
    ...shaped('a path, perhaps with a query, of letters, digits, -._~!*+,;=:@& and %XX', isAskedPath),
    ...both,
    byDefault: '`/`',
    meaning: 'What is asked for over HTTP; 2xx and 3xx are good answers.',
  },
  'health-check-interval': {
    option: 'healthCheckIntervalSeconds',
    ...wholeNumber(1, 300),
    ...both,
    byDefault: '5',
    meaning: 'Seconds from one question to the next.',
  },
  'health-check-timeout': {
    option: 'healthCheckTimeoutSeconds',
    ...wholeNumber(1, 300),
    ...both,
    byDefault: '3, or the interval',
    meaning: 'Seconds until no answer is a bad one; not longer than the interval.',
  },
  'healthy-threshold': {
    option: 'healthyThreshold',
    ...wholeNumber(1, 10),
    ...both,
    byDefault: '2',
    meaning: 'Good answers in a row that make a pod serve.',
  },
  'unhealthy-threshold': {
    option: 'unhealthyThreshold',
    ...wholeNumber(1, 10),
    ...both,
    byDefault: '3',
    meaning: 'Bad answers in a row that take it out.',
  },
  'passive-failures': {
    option: 'passiveFailures',
    ...wholeNumber(0, 1_000),
    ...ingress,
    byDefault: '3; with Caddy 0, or 3 beside `passive-seconds`',
    meaning: 'Requests in a row that a pod fails to take until it gets none for a while; 0 for never.',
  },
  'passive-seconds': {
    option: 'passiveSeconds',
    ...wholeNumber(1, 3_600),
    ...ingress,
    byDefault: '10',
    meaning: 'How long that is.',
  },
  'connect-timeout': {
    option: 'connectTimeoutSeconds',
    ...wholeNumber(1, 300),
    ...both,
    byDefault: '5',
    meaning: 'Seconds until a pod that does not answer a connection is given up.',
  },
  'response-timeout': {
    option: 'responseTimeoutSeconds',
    ...wholeNumber(1, 3_600),
    ...ingress,
    byDefault: '60',
    meaning: 'Seconds until the answer of a pod has to begin.',
  },
  'idle-timeout': {
    option: 'idleTimeoutSeconds',
    ...wholeNumber(1, 4_000),
    ...both,
    byDefault: '60; 3600 for a MultiClusterService',
    meaning: 'Seconds after which a silent connection is closed.',
  },
  affinity: {
    option: 'affinity',
    ...oneOf('none', 'source-ip', 'cookie'),
    ...both,
    byDefault: '`none`',
    meaning: 'By what a client stays with its pod; `cookie` for a MultiClusterIngress only.',
  },
  'affinity-seconds': {
    option: 'affinitySeconds',
    ...wholeNumber(1, 86_400),
    ...service,
    byDefault: '10800',
    meaning: 'How long after its last connection, with `source-ip`.',
  },
  algorithm: {
    option: 'algorithm',
    ...oneOf('round-robin', 'least-connections', 'source-ip'),
    ...service,
    byDefault: '`round-robin`',
    meaning: 'How a pod is chosen.',
  },
  'proxy-protocol': {
    option: 'proxyProtocol',
    ...oneOf('none', 'v1', 'v2'),
    ...service,
    byDefault: '`none`',
    meaning: 'The client address goes before the traffic to pods.',
  },
  'accept-proxy-protocol': {
    option: 'acceptProxyProtocol',
    ...flag,
    ...service,
    byDefault: '`false`',
    meaning: 'Clients send such a header themselves, as another balancer before this one does.',
  },
  'source-ranges': {
    option: 'sourceRanges',
    ...listOf('networks such as 198.51.100.0/24, separated by commas', 256, network),
    ...service,
    byDefault: 'everybody',
    meaning: 'Who may connect.',
  },
  'address-pool': {
    option: 'addressPool',
    ...name,
    ...both,
    byDefault: '`default`',
    meaning: 'Where the addresses come from; pools are configured.',
  },
  'static-ip': {
    option: 'staticIps',
    ...listOf('IP addresses of the pool, one a family, separated by a comma', 2, address),
    ...both,
    byDefault: 'any of the pool',
    meaning: 'Addresses that it must be.',
  },
  'ip-families': {
    option: 'ipFamilies',
    ...listOf('`IPv4`, `IPv6`, or both, separated by a comma', 2, family),
    ...both,
    byDefault: 'those of the pool',
    meaning: 'An address of each.',
  },
  hostname: {
    option: 'hostname',
    ...dnsName,
    ...both,
    byDefault: 'the one of the pool',
    meaning: 'Published in the place of the addresses.',
  },
}
