import {
  type AnnotationValue,
  dnsName,
  flag,
  isPort,
  name,
  oneOf,
  shaped,
  wholeNumber,
} from '../balancer-annotations/annotation-values.ts'
import type { AnnotationRow } from '../balancer-annotations/parse-annotations.ts'
import { parseIpAddress } from '../ip-address.ts'
import type { BalancerOptions } from './balancer-options.ts'
import { parseLabelSelector } from './parse-label-selector.ts'

/** One annotation: how it is read, and the rest for readers (`describeAnnotations`). */
export type BalancerAnnotation = AnnotationRow<BalancerOptions> & {
  meaning: string
  /** `create`: read when the balancer is made; a later change asks for a new Service. */
  changes: 'any time' | 'create'
}

const ports: AnnotationValue<number[]> = {
  values: 'ports, separated by commas',
  parse(text) {
    const texts = text.split(',').map((port) => port.trim())
    return texts.every(isPort) ? { value: texts.map(Number) } : { fault: 'must be ports, separated by commas' }
  },
}

const isPath = (text: string) => /^\/[\x21-\x7e]*$/.test(text) && text.length <= 1024
const isText = (text: string) => /^\P{Cc}{1,1024}$/u.test(text)
const text = shaped('a text of at most 1024 printable characters', isText)
const anyTime = { changes: 'any time' } as const
const create = { changes: 'create' } as const

/** The neutral set: one row an annotation. Parser, ranges, documentation and typed options come from here and nowhere else. */
export const BALANCER_ANNOTATIONS: Readonly<Record<string, BalancerAnnotation>> = {
  name: { option: 'name', ...name, ...create, meaning: 'Name of the balancer in the cloud.' },
  id: {
    option: 'id',
    ...text,
    ...create,
    meaning: 'A balancer that exists already and is used; it is never deleted by us.',
  },
  protocol: {
    option: 'protocol',
    ...oneOf('tcp', 'http', 'https'),
    ...anyTime,
    meaning: 'What all ports speak that no other annotation names.',
  },
  'http-ports': { option: 'httpPorts', ...ports, ...anyTime, meaning: 'Ports that speak HTTP.' },
  'tls-ports': { option: 'tlsPorts', ...ports, ...anyTime, meaning: 'Ports that speak TLS.' },
  'tls-passthrough': {
    option: 'tlsPassthrough',
    ...flag,
    ...anyTime,
    meaning: 'TLS ends at the pods, not at the balancer.',
  },
  certificate: { option: 'certificate', ...text, ...anyTime, meaning: 'Id or name of the certificate in the cloud.' },
  'redirect-http-to-https': {
    option: 'redirectHttpToHttps',
    ...flag,
    ...anyTime,
    meaning: 'HTTP ports answer with a redirect.',
  },
  'proxy-protocol': {
    option: 'proxyProtocol',
    ...oneOf('none', 'v1', 'v2'),
    ...anyTime,
    meaning: 'The client address goes before the traffic; health checks go without. Published as `ipMode: Proxy`.',
  },
  'health-check-protocol': {
    option: 'healthCheckProtocol',
    ...oneOf('tcp', 'http', 'https'),
    ...anyTime,
    meaning: 'How a node is asked whether it serves.',
  },
  'health-check-port': {
    option: 'healthCheckPort',
    ...wholeNumber(1, 65_535),
    ...anyTime,
    meaning: 'Where it is asked. With `externalTrafficPolicy: Local` the health check node port is used instead.',
  },
  'health-check-path': {
    option: 'healthCheckPath',
    ...shaped('a path that begins with /', isPath),
    ...anyTime,
    meaning: 'What is asked for over HTTP.',
  },
  'health-check-interval': {
    option: 'healthCheckIntervalSeconds',
    ...wholeNumber(1, 300),
    ...anyTime,
    meaning: 'Seconds from one question to the next.',
  },
  'health-check-timeout': {
    option: 'healthCheckTimeoutSeconds',
    ...wholeNumber(1, 300),
    ...anyTime,
    meaning: 'Seconds until no answer is a bad one; not longer than the interval.',
  },
  'healthy-threshold': {
    option: 'healthyThreshold',
    ...wholeNumber(1, 10),
    ...anyTime,
    meaning: 'Good answers in a row that make a node serve.',
  },
  'unhealthy-threshold': {
    option: 'unhealthyThreshold',
    ...wholeNumber(1, 10),
    ...anyTime,
    meaning: 'Bad answers in a row that take it out.',
  },
  algorithm: {
    option: 'algorithm',
    ...oneOf('round-robin', 'least-connections', 'source-ip'),
    ...anyTime,
    meaning: 'How a node is chosen.',
  },
  'idle-timeout': {
    option: 'idleTimeoutSeconds',
    ...wholeNumber(1, 4_000),
    ...anyTime,
    meaning: 'Seconds after which a silent connection is closed.',
  },
  'node-selector': {
    option: 'nodeSelector',
    ...shaped('a label selector such as role=edge', (value) => parseLabelSelector(value) !== undefined),
    ...anyTime,
    meaning: 'Only nodes with these labels are backends.',
  },
  internal: { option: 'internal', ...flag, ...create, meaning: 'Reachable from the private network only.' },
  'static-ip': {
    option: 'staticIp',
    ...shaped('an IP address', (value) => parseIpAddress(value) !== undefined),
    ...create,
    meaning: 'An address that is reserved in the cloud.',
  },
  hostname: {
    option: 'hostname',
    ...dnsName,
    ...anyTime,
    meaning: 'Published in the place of the addresses.',
  },
  'ip-mode': {
    option: 'ipMode',
    ...oneOf('auto', 'VIP', 'Proxy'),
    ...anyTime,
    meaning: 'Whether nodes may answer for the address themselves (VIP). `auto` says Proxy with the proxy protocol.',
  },
  'shared-id': {
    option: 'sharedId',
    ...name,
    ...create,
    meaning: 'Services that name the same one share a balancer; their ports must differ.',
  },
  'retain-on-delete': {
    option: 'retainOnDelete',
    ...flag,
    ...anyTime,
    meaning: 'The balancer stays when the Service goes.',
  },
  disown: { option: 'disown', ...flag, ...anyTime, meaning: 'From now on it is neither changed nor deleted by us.' },
}
