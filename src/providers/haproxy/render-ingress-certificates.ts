import { join } from 'node:path'
import type { PlannedCertificate } from '../../domain/routing/route-plan.ts'
import type { Digest } from '../../ports/digest.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import { nameWord, proxyName } from './proxy-name.ts'
import type { RenderedCertificate, RenderedCertificateList } from './rendered-configuration.ts'
import type { ServedIngress } from './served-record.ts'
import type { SharedAddress } from './shared-address.ts'

export interface RenderedCertificates {
  certificates: RenderedCertificate[]
  certificateLists: RenderedCertificateList[]
  /** Path of the certificate for every name, by name of the address; only where an object has one. */
  defaults: ReadonlyMap<string, string>
}

/**
 * One file for every Secret of every object: a new certificate in it is the same file. A list an address says for which
 * names each is; a name belongs to the first object that has a certificate for it.
 */
export function renderIngressCertificates(
  records: readonly ServedIngress[],
  shared: readonly SharedAddress[],
  options: HaproxyOptions,
  digest: Digest,
): RenderedCertificates {
  const pathOf = ({ identity }: ServedIngress, { secretName }: PlannedCertificate) =>
    join(
      options.stateDirectory,
      'certificates',
      `${proxyName(identity, digest)}_${nameWord(secretName)}_${digest(secretName).slice(0, 6)}.pem`,
    )
  const secure = shared.filter((each) => each.records.some(({ certificates }) => certificates.length > 0))
  return {
    certificates: records.flatMap((record) =>
      record.certificates.map((each) => ({ path: pathOf(record, each), pem: pemOf(each) })),
    ),
    certificateLists: secure.map((each) => ({ path: each.certificateList, entries: listEntries(each, pathOf) })),
    defaults: new Map(
      secure.flatMap(({ name, records: here }): [string, string][] => {
        const all = here.flatMap((record) => record.certificates.map((certificate) => ({ record, certificate })))
        const first = all.find(({ certificate }) => certificate.hosts.length === 0)
        return first === undefined ? [] : [[name, pathOf(first.record, first.certificate)]]
      }),
    ),
  }
}

/** A line must fit HAProxy's buffer, to be added and to be shown. */
const NAMES_A_LINE = 20

function listEntries(
  { records }: SharedAddress,
  pathOf: (record: ServedIngress, certificate: PlannedCertificate) => string,
): RenderedCertificateList['entries'] {
  const taken = new Set<string>()
  return records.flatMap((record) =>
    record.certificates.flatMap((certificate) => {
      const names = certificate.hosts.filter((host) => !taken.has(host))
      for (const host of names) taken.add(host)
      const line = { certificate: pathOf(record, certificate), arguments: [] }
      // Without names HAProxy takes those that the certificate itself has.
      if (certificate.hosts.length === 0) return [{ ...line, names }]
      return Array.from({ length: Math.ceil(names.length / NAMES_A_LINE) }, (_, index) => ({
        ...line,
        names: names.slice(index * NAMES_A_LINE, (index + 1) * NAMES_A_LINE),
      }))
    }),
  )
}

function pemOf({ certificate, key }: PlannedCertificate): string {
  return [certificate, key].map((part) => `${part.trim()}\n`).join('')
}
