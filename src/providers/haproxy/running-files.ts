import { X509Certificate } from 'node:crypto'
import { certificateListLine, mapText } from './configuration-files.ts'
import type { HaproxyRuntime } from './haproxy-runtime.ts'
import type {
  RenderedCertificate,
  RenderedCertificateList,
  RenderedConfiguration,
  RenderedMap,
} from './rendered-configuration.ts'

/** Done at run time, or nothing to do; or it cannot be done so: what is too long for HAProxy's buffer needs a reload. */
export type FilesUpdate = 'unchanged' | 'updated' | 'impossible'

/**
 * Brings maps, certificates and lists of certificates that the worker has in memory to what is rendered.
 * `renewed`: certificates whose file changed, as HAProxy tells of a certificate only its leaf.
 */
export async function updateRunningFiles(
  { maps, certificates, certificateLists }: RenderedConfiguration,
  renewed: ReadonlySet<string>,
  runtime: HaproxyRuntime,
): Promise<FilesUpdate> {
  // Certificates before the lists that name them, lists before maps that lead there.
  const updates = [
    ...certificates.map((certificate) => () => updateCertificate(certificate, renewed.has(certificate.path), runtime)),
    ...certificateLists.map((list) => () => updateList(list, runtime)),
    ...maps.map((map) => () => updateMap(map, runtime)),
  ]
  let result: FilesUpdate = 'unchanged'
  for (const update of updates) {
    const made = await update()
    if (made === 'impossible') return made
    if (made === 'updated') result = made
  }
  return result
}

/** What HAProxy takes as one command with its payload: its buffer (`tune.bufsize`), less what it keeps free. */
const COMMAND_LENGTH = 15_000

async function updateCertificate(
  { path, pem }: RenderedCertificate,
  renewed: boolean,
  runtime: HaproxyRuntime,
): Promise<FilesUpdate> {
  const running = await runtime.tell(`show ssl cert ${path}`)
  const leaf = /^SHA1 FingerPrint: ([0-9A-F]+)$/m.exec(running)?.[1]
  if (!renewed && leaf === leafFingerprint(pem)) return 'unchanged'
  const command = `set ssl cert ${path} <<\n${withoutBlankLines(pem)}\n`
  if (command.length > COMMAND_LENGTH) return 'impossible'
  if (leaf === undefined) await runtime.tell(`new ssl cert ${path}`)
  await runtime.tell(command)
  const said = await runtime.tell(`commit ssl cert ${path}`)
  if (said.includes('Success')) return 'updated'
  await runtime.tell(`abort ssl cert ${path}`)
  return 'impossible'
}

function leafFingerprint(pem: string): string | undefined {
  const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem)?.[0]
  return certificate && new X509Certificate(certificate).fingerprint.replaceAll(':', '')
}

async function updateList(list: RenderedCertificateList, runtime: HaproxyRuntime): Promise<FilesUpdate> {
  const { path, entries } = list
  const running = await runningList(path, runtime)
  const wanted = entries.map(certificateListLine)
  const missing = wanted.filter((line) => running.every((each) => each.line !== line))
  const surplus = running.filter(({ line }) => !wanted.includes(line))
  if (missing.length + surplus.length === 0) return 'unchanged'
  for (const line of missing) {
    const command = `add ssl crt-list ${path} <<\n${line}\n`
    if (command.length > COMMAND_LENGTH) return 'impossible'
    if (!(await runtime.tell(command)).includes('Success')) return 'impossible'
  }
  for (const { place } of surplus) {
    await runtime.tell(`del ssl crt-list ${path} ${place}`)
    // Refused while another line names it.
    await runtime.tell(`del ssl cert ${place.replace(/:\d+$/, '')}`)
  }
  return 'updated'
}

/** Lines of a list as the worker has them, with what they are deleted by. */
async function runningList(path: string, runtime: HaproxyRuntime): Promise<{ place: string; line: string }[]> {
  const answer = await runtime.tell(`show ssl crt-list -n ${path}`)
  return answer.split('\n').flatMap((line) => {
    const [, certificate, at, rest = ''] = /^(\/\S+?):(\d+)(.*)$/.exec(line) ?? []
    return certificate === undefined ? [] : [{ place: `${certificate}:${at}`, line: `${certificate}${rest}`.trim() }]
  })
}

/** All entries at once: requests see the old map or the new one. */
async function updateMap(map: RenderedMap, runtime: HaproxyRuntime): Promise<FilesUpdate> {
  const { path, entries } = map
  // `0x55d0 key value`
  const running = (await runtime.tell(`show map ${path}`)).replace(/^0x[0-9a-f]+ /gm, '').trim()
  if (running === mapText(map).trim()) return 'unchanged'
  const version = /(\d+)/.exec(await runtime.tell(`prepare map ${path}`))?.[1]
  for (const part of payloads(entries)) {
    // Says nothing where it is done.
    if ((await runtime.tell(`add map @${version} ${path} <<\n${part}`)) !== '') return 'impossible'
  }
  await runtime.tell(`commit map @${version} ${path}`)
  return 'updated'
}

/** Of one `add map`; each line is at most a host and a path long. */
const PAYLOAD_LENGTH = 8_000

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
