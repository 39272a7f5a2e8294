import { join } from 'node:path'
import type { PoolAddress } from '../../domain/addresses/address-pool.ts'
import type { Digest } from '../../ports/digest.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import { nameWord } from './proxy-name.ts'
import { renderHttpBackends } from './render-http-backend.ts'
import { renderHttpFrontends } from './render-http-frontend.ts'
import { renderIngressCertificates } from './render-ingress-certificates.ts'
import { renderRouteMaps } from './render-route-maps.ts'
import type { RenderedFrontend, RenderedPart } from './rendered-configuration.ts'
import type { ServedIngress } from './served-record.ts'
import type { SharedAddress } from './shared-address.ts'

/**
 * Layer 7: frontends for the two ports of every address, which find host and path in maps, and a backend for every
 * Service port of every ingress. Hosts, paths, servers and certificates come and go without a reload.
 */
export function renderRoutes(
  records: readonly ServedIngress[],
  options: HaproxyOptions,
  digest: Digest,
): Required<RenderedPart> {
  const shared = sharedAddresses(records, options)
  const { certificates, certificateLists, defaults } = renderIngressCertificates(records, shared, options, digest)
  return {
    sections: [
      ...(records.length === 0 ? [] : [DEFAULTS]),
      ...shared.flatMap((each) => renderHttpFrontends(each, defaults.get(each.name))),
      ...records.flatMap((record) => renderHttpBackends(record, digest)),
    ],
    maps: shared.flatMap((each) => renderRouteMaps(each, digest)),
    certificates,
    certificateLists,
  }
}

function sharedAddresses(records: readonly ServedIngress[], { stateDirectory }: HaproxyOptions): SharedAddress[] {
  const byListen = new Map<string, { address: PoolAddress; records: ServedIngress[] }>()
  // What leads nowhere claims no port, which may be another object's then.
  for (const record of records.filter(({ addresses }) => addresses.claims.length > 0)) {
    for (const address of record.addresses.addresses) {
      const known = byListen.get(address.listen)
      if (known === undefined) byListen.set(address.listen, { address, records: [record] })
      else known.records.push(record)
    }
  }
  return [...byListen.values()]
    .sort((a, b) => (a.address.listen < b.address.listen ? -1 : 1))
    .map((each) => {
      const { listen } = each.address
      const name = listen === '*' ? 'all' : listen === '::' ? 'all-ipv6' : nameWord(listen)
      const map = (kind: string) => join(stateDirectory, 'maps', `${name}.${kind}`)
      return {
        ...each,
        name,
        maps: { hosts: map('hosts'), exact: map('exact'), prefix: map('prefix') },
        certificateList: join(stateDirectory, 'certificate-lists', name),
      }
    })
}

const DEFAULTS: RenderedFrontend = {
  header: 'defaults wcp-http',
  lines: [
    'mode http',
    'log global',
    'option dontlognull',
    'option http-keep-alive',
    // A process that ends says so in its next answer: whoever sends just then on a connection that is kept gets one.
    'option idle-close-on-response',
    'timeout connect 5s',
    'timeout client 60s',
    'timeout server 60s',
    // Somebody who begins a request and does not finish it holds nothing for long.
    'timeout http-request 30s',
    'timeout queue 5s',
    // A server that takes no connection costs no client: the next one is asked. An answer that never came is asked for
    // again where that does no harm.
    'retries 3',
    'option redispatch 1',
    'retry-on conn-failure empty-response',
  ],
}
