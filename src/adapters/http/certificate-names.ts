import type { PeerCertificate } from 'node:tls'

/** One alternative name, as Node writes them: `DNS:a, URI:"as JSON where it has commas or quotes"`. */
const ALTERNATIVE = /(?:^|, )(DNS|URI|email|IP Address):("(?:[^"\\]|\\.)*"|[^,"]*)/y
const ANY_ALTERNATIVE = /(?:^|, )[^:,"]+:("(?:[^"\\]|\\.)*"|[^,"]*)/y

/** The common name and the alternative names of a certificate. What cannot be read whole has no names at all. */
export function certificateNames({ subject, subjectaltname }: Partial<PeerCertificate>): string[] {
  const commonNames = [subject?.CN ?? []].flat()
  const alternatives = alternativeNames(subjectaltname ?? '')
  return alternatives === undefined ? [] : [...commonNames, ...alternatives]
}

function alternativeNames(text: string): string[] | undefined {
  const names: string[] = []
  for (let at = 0; at < text.length; ) {
    ALTERNATIVE.lastIndex = at
    ANY_ALTERNATIVE.lastIndex = at
    const match = ALTERNATIVE.exec(text)
    const { lastIndex } = match === null ? ANY_ALTERNATIVE : ALTERNATIVE
    if (match === null && !ANY_ALTERNATIVE.test(text)) return undefined
    const value = match?.[2] ?? ''
    if (match !== null) names.push(value.startsWith('"') ? String(JSON.parse(value)) : value)
    at = match === null ? ANY_ALTERNATIVE.lastIndex : lastIndex
  }
  return names
}
