import type { PeerCertificate } from 'node:tls'

/** One alternative name, as Node writes it: `DNS:a`, or `URI:"…"`, as JSON, where it has a comma or a quote in it. */
const ALTERNATIVE = /(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)/y
const NAMING = ['DNS', 'URI', 'email', 'IP Address']

/** The common names and the alternative names of a certificate. One that cannot be read whole has no names at all. */
export function certificateNames({ subject, subjectaltname = '' }: Partial<PeerCertificate>): string[] {
  const names = [subject?.CN ?? []].flat()
  ALTERNATIVE.lastIndex = 0
  while (ALTERNATIVE.lastIndex < subjectaltname.length) {
    const [whole, type = '', value = ''] = ALTERNATIVE.exec(subjectaltname) ?? []
    if (whole === undefined) return []
    if (NAMING.includes(type)) names.push(value.startsWith('"') ? String(JSON.parse(value)) : value)
  }
  return names
}
