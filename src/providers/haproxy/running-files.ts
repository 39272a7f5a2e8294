import { X509Certificate } from 'node:crypto'
import { certificateListLine, mapText } from './configuration-files.ts'
import type { HaproxyRuntime } from './haproxy-runtime.ts'
import type {
  RenderedCertificate,
  RenderedCertificateList,
  RenderedConfiguration,
  RenderedMap,
} from './rendered-configuration.ts'

/**
 * Brings maps, certificates and lists of certificates that the worker has in memory to what is rendered, and answers
 * whether anything was to do. `renewed`: certificates whose file changed, as HAProxy tells of a certificate only its leaf.
 */
export async function updateRunningFiles(
  { maps, certificates, certificateLists }: RenderedConfiguration,
  renewed: ReadonlySet<string>,
  runtime: HaproxyRuntime,
): Promise<boolean> {
  let changed = false
  // Certificates before the lists that name them, lists before maps that lead there.
  for (const certificate of certificates) {
    if (await updateCertificate(certificate, renewed.has(certificate.path), runtime)) changed = true
  }
  for (const list of certificateLists) if (await updateList(list, runtime)) changed = true
  for (const map of maps) if (await updateMap(map, runtime)) changed = true
  return changed
}

async function updateCertificate(
  { path, pem }: RenderedCertificate,
  renewed: boolean,
  runtime: HaproxyRuntime,
): Promise<boolean> {
  const running = await runtime.tell(`show ssl cert ${path}`)
  const leaf = /^SHA1 FingerPrint: ([0-9A-F]+)$/m.exec(running)?.[1]
  if (!renewed && leaf === leafFingerprint(pem)) return false
  if (leaf === undefined) await runtime.tell(`new ssl cert ${path}`)
  await runtime.tell(`set ssl cert ${path} <<\n${withoutBlankLines(pem)}\n`)
  const said = await runtime.tell(`commit ssl cert ${path}`)
  if (!said.includes('Success')) await runtime.tell(`abort ssl cert ${path}`)
  return true
}

function leafFingerprint(pem: string): string | undefined {
  const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem)?.[0]
  return certificate && new X509Certificate(certificate).fingerprint.replaceAll(':', '')
}

async function updateList({ path, entries }: RenderedCertificateList, runtime: HaproxyRuntime): Promise<boolean> {
  const answer = await runtime.tell(`show ssl crt-list -n ${path}`)
  const running = answer.split('\n').flatMap((line) => {
    const [, certificate, at, rest = ''] = /^(\/\S+?):(\d+)(.*)$/.exec(line) ?? []
    return certificate === undefined ? [] : [{ place: `${certificate}:${at}`, line: `${certificate}${rest}`.trim() }]
  })
  const wanted = entries.map(certificateListLine)
  const missing = wanted.filter((line) => running.every((each) => each.line !== line))
  const surplus = running.filter(({ line }) => !wanted.includes(line))
  for (const line of missing) await runtime.tell(`add ssl crt-list ${path} <<\n${line}\n`)
  for (const { place } of surplus) {
    await runtime.tell(`del ssl crt-list ${path} ${place}`)
    // Refused while another line names it.
    await runtime.tell(`del ssl cert ${place.replace(/:\d+$/, '')}`)
  }
  return missing.length + surplus.length > 0
}

/** HAProxy's buffer takes a command with its payload. */
const PAYLOAD_LENGTH = 8_000

/** All entries at once: requests see the old map or the new one. */
async function updateMap(map: RenderedMap, runtime: HaproxyRuntime): Promise<boolean> {
  const { path, entries } = map
  // `0x55d0 key value`
  const running = (await runtime.tell(`show map ${path}`)).replace(/^0x[0-9a-f]+ /gm, '').trim()
  if (running === mapText(map).trim()) return false
  const version = /(\d+)/.exec(await runtime.tell(`prepare map ${path}`))?.[1]
  for (const part of payloads(entries)) await runtime.tell(`add map @${version} ${path} <<\n${part}`)
  await runtime.tell(`commit map @${version} ${path}`)
  return true
}

function payloads(entries: RenderedMap['entries']): string[] {
  const parts: string[] = []
  for (const entry of entries) {
    const line = mapText({ entries: [entry] })
    const last = parts.at(-1)
    if (last === undefined || last.length + line.length > PAYLOAD_LENGTH) parts.push(line)
    else parts[parts.length - 1] = last + line
  }
  return parts
}

function withoutBlankLines(pem: string): string {
  return pem
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n')
}
