import type { Digest } from '../../ports/digest.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import { proxyName } from './proxy-name.ts'
import { quoteArgument } from './quote-argument.ts'
import { hostAndPort } from './render-backend-servers.ts'
import { renderListeners } from './render-listeners.ts'
import { renderRoutes } from './render-routes.ts'
import {
  isBackend,
  type RenderedBackend,
  type RenderedConfiguration,
  type RenderedPart,
  type RenderedSection,
  type RenderedServer,
} from './rendered-configuration.ts'
import type { ServedRecord } from './served-record.ts'

/** In the environment of every worker; `show env` tells it. */
export const GENERATION_VARIABLE = 'WCP_GENERATION'

const MOST_OLD_WORKERS = 50

/** All records, of whatever layer, as one configuration. Pure. */
export function renderConfiguration(
  records: readonly ServedRecord[],
  options: HaproxyOptions,
  digest: Digest,
): RenderedConfiguration {
  const parts = renderParts(inOrder(records, digest), options, digest)
  const sections = parts.flatMap((part) => part.sections)
  const backends = sections.filter(isBackend)
  const base = renderBase(options, backends)
  const fixed = [
    base,
    ...sections.map(sectionText),
    ...backends.map(({ serverArguments }) => serverArguments.join(' ')),
    ...parts.flatMap(({ certificateLists = [], maps = [] }) => [...certificateLists, ...maps].map(({ path }) => path)),
  ].join('\n')
  const generation = digest(fixed).slice(0, 16)
  return {
    generation,
    text: [
      '# Written by webhook-cloud-provider from its records; what is changed here by hand is overwritten.',
      `global\n  setenv ${GENERATION_VARIABLE} ${generation}`,
      base,
      ...sections.map((section) => sectionText(section) + serverLines(section)),
      '',
    ].join('\n\n'),
    backends,
    maps: parts.flatMap(({ maps = [] }) => maps),
    certificates: parts.flatMap(({ certificates = [] }) => certificates),
    certificateLists: parts.flatMap(({ certificateLists = [] }) => certificateLists),
  }
}

/** Of a file that was rendered; undefined for the empty one of a new machine, which has none. */
export function generationIn(text: string): string | undefined {
  return new RegExp(`^ {2}setenv ${GENERATION_VARIABLE} (\\S+)$`, 'm').exec(text)?.[1]
}

/** One for each layer. */
function renderParts(records: readonly ServedRecord[], options: HaproxyOptions, digest: Digest): RenderedPart[] {
  return [
    renderListeners(
      records.filter((record) => record.layer === 4),
      digest,
    ),
    renderRoutes(
      records.filter((record) => record.layer === 7),
      options,
      digest,
    ),
  ]
}

function inOrder(records: readonly ServedRecord[], digest: Digest): ServedRecord[] {
  const named = records.map((record) => ({ name: proxyName(record.identity, digest), record }))
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ record }) => record)
}

/**
 * HAProxy takes as many connections as its limit of open files allows, two files each. More than that it refuses to start
 * with; and where there is no limit, as in some containers, its tables would fill the memory.
 */
const MOST_FILES = 100_000

/** What all proxies stand on. Without a file of the operator's `global` is ours too. */
function renderBase(options: HaproxyOptions, backends: readonly RenderedBackend[]): string {
  const { baseConfiguration, runtimeSocket, maxConnections, hardStopAfterSeconds, peersPort } = options
  const remembering = backends.some(({ remembersClients }) => remembersClients)
  const own = [
    'log stdout format raw local0 notice',
    `stats socket ${quoteArgument(runtimeSocket)} mode 660 level admin expose-fd listeners`,
    maxConnections === undefined ? `fd-hard-limit ${MOST_FILES}` : `maxconn ${maxConnections}`,
    `hard-stop-after ${hardStopAfterSeconds}s`,
    // Each keeps its memory for as long as one of its connections goes on.
    `mworker-max-reloads ${MOST_OLD_WORKERS}`,
  ]
  const global = [
    ...(baseConfiguration === undefined ? own : []),
    // A process tells the next one whom it remembers.
    ...(remembering ? ['localpeer wcp'] : []),
  ]
  return [
    ...(global.length === 0 ? [] : [sectionText({ header: 'global', lines: global })]),
    ...(remembering
      ? [sectionText({ header: 'peers wcp', lines: [`bind 127.0.0.1:${peersPort}`, 'server wcp'] })]
      : []),
    sectionText({
      header: 'defaults wcp-tcp',
      lines: [
        'mode tcp',
        'log global',
        'option dontlognull',
        'timeout connect 5s',
        'timeout client 1h',
        'timeout server 1h',
        // A server that takes no connection costs no client: the next one is asked.
        'retries 3',
        'option redispatch 1',
      ],
    }),
  ].join('\n\n')
}

function sectionText({ header, lines }: Pick<RenderedSection, 'header' | 'lines'>): string {
  return [header, ...lines.map((line) => `  ${line}`)].join('\n')
}

function serverLines(section: RenderedSection): string {
  if (!isBackend(section)) return ''
  return section.servers.map((server) => `\n  server ${serverText(section, server)}`).join('')
}

function serverText({ serverArguments }: RenderedBackend, server: RenderedServer): string {
  return `${server.name} ${serverDefinition(serverArguments, server)}`
}

/** What follows the name, in a file and in `add server`. */
export function serverDefinition(serverArguments: readonly string[], server: RenderedServer): string {
  return [hostAndPort(server), `weight ${server.weight}`, ...serverArguments].join(' ')
}
