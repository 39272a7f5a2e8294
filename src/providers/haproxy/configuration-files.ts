import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { HaproxyOptions } from './haproxy-options.ts'
import type { RenderedCertificateList, RenderedConfiguration, RenderedMap } from './rendered-configuration.ts'
import { removeFile, writeWholeFile } from './write-file.ts'

export interface ConfigurationFile {
  path: string
  text: string
}

/** Where maps, certificates and their lists are, and nothing but them: what is not rendered any more goes. */
export const FILE_FOLDERS = ['maps', 'certificates', 'certificate-lists'] as const

/** The file that HAProxy is started with. */
export function configurationFile({ text }: RenderedConfiguration, options: HaproxyOptions): ConfigurationFile {
  return { path: options.configurationFile, text }
}

/** The files that it names. */
export function namedFiles({ maps, certificates, certificateLists }: RenderedConfiguration): ConfigurationFile[] {
  return [
    ...maps.map((map) => ({ path: map.path, text: mapText(map) })),
    ...certificates.map(({ path, pem }) => ({ path, text: pem })),
    ...certificateLists.map((list) => ({ path: list.path, text: certificateListText(list) })),
  ]
}

export function mapText({ entries }: Pick<RenderedMap, 'entries'>): string {
  return entries.map(([key, value]) => `${key} ${value}\n`).join('')
}

function certificateListText({ entries }: Pick<RenderedCertificateList, 'entries'>): string {
  return entries.map((entry) => `${certificateListLine(entry)}\n`).join('')
}

export function certificateListLine(entry: RenderedCertificateList['entries'][number]): string {
  const options = entry.arguments.length === 0 ? [] : [`[${entry.arguments.join(' ')}]`]
  return [entry.certificate, ...options, ...entry.names].join(' ')
}

/** Those that are not as they are to be, with what they hold now. */
export async function differingFiles(
  files: readonly ConfigurationFile[],
): Promise<(ConfigurationFile & { before: string | undefined })[]> {
  const read = await Promise.all(files.map(async (file) => ({ ...file, before: await readText(file.path) })))
  return read.filter(({ text, before }) => text !== before)
}

/** Another one whenever the configuration was written, or a file that it names came, went or was exchanged. */
export async function filesStamp({ configurationFile, stateDirectory }: HaproxyOptions): Promise<string> {
  const places = [configurationFile, ...FILE_FOLDERS.map((folder) => join(stateDirectory, folder))]
  const found = await Promise.all(places.map((place) => stat(place, { bigint: true }).catch(undefinedWhereAbsent)))
  return found.map((each) => `${each?.ino}:${each?.mtimeNs}`).join()
}

export async function writeFiles(files: readonly ConfigurationFile[]): Promise<void> {
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeWholeFile(path, text)
  }
}

/** Back to what they held, as HAProxy went on with that. */
export async function restoreFiles(files: readonly { path: string; before: string | undefined }[]): Promise<void> {
  for (const { path, before } of files.toReversed()) {
    // What could not be written need not, and perhaps cannot, be put back.
    if ((await readText(path)) === before) continue
    if (before === undefined) await removeFile(path)
    else await writeWholeFile(path, before)
  }
}

export async function removeStaleFiles(files: readonly ConfigurationFile[], directory: string): Promise<void> {
  const kept = new Set(files.map(({ path }) => path))
  for (const folder of FILE_FOLDERS) {
    const names = (await readdir(join(directory, folder)).catch(undefinedWhereAbsent)) ?? []
    for (const name of names) {
      const path = join(directory, folder, name)
      if (!kept.has(path)) await removeFile(path)
    }
  }
}

/** Undefined where there is no such file. */
export async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(undefinedWhereAbsent)
}

function undefinedWhereAbsent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
