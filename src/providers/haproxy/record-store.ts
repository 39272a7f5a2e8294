import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { PlannedCertificate } from '../../domain/routing/route-plan.ts'
import type { Digest } from '../../ports/digest.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { proxyName } from './proxy-name.ts'
import type { ServedRecord } from './served-record.ts'
import { removeFile, writeWholeFile } from './write-file.ts'

/**
 * What is served, in files: `records/<name>.json` for each object, and apart from it its keys in
 * `keys/<name>.json`. Where they and HAProxy differ, the records are right.
 */
export interface RecordStore {
  list(): Promise<ServedRecord[]>
  read(identity: BalancerIdentity): Promise<ServedRecord | undefined>
  write(record: ServedRecord): Promise<void>
  /** Remembers the fence of whoever removed it, so that a call of an earlier holder does not bring it back. */
  remove(record: ServedRecord, fence: string): Promise<void>
  /** With which it was removed, if that was among the last. */
  removalFence(identity: BalancerIdentity): Promise<string | undefined>
  /** Another one whenever records may have changed. */
  version(): Promise<string>
}

export function createRecordStore(directory: string, digest: Digest): RecordStore {
  const records = join(directory, 'records')
  const keys = join(directory, 'keys')
  const removals = join(directory, 'removals.json')
  let ownWrites = 0
  const fileOf = (identity: BalancerIdentity) => `${proxyName(identity, digest)}.json`

  async function readRemovals(): Promise<[file: string, fence: string][]> {
    return parseJson((await readText(removals)) ?? '[]', removals) as [string, string][]
  }

  async function readRecord(file: string): Promise<ServedRecord | undefined> {
    const text = await readText(join(records, file))
    if (text === undefined) return undefined
    const record = decodeRecord(text, join(records, file))
    if (record.layer === 4) return record
    const certificates = await readText(join(keys, file))
    if (certificates === undefined) throw new Error(`${join(keys, file)} is missing: its record cannot be served`)
    return { ...record, certificates: parseJson(certificates, join(keys, file)) as PlannedCertificate[] }
  }

  return {
    read: (identity) => readRecord(fileOf(identity)),
    async list() {
      const files = await readFolder(records)
      const found = await Promise.all(files.filter((file) => file.endsWith('.json')).map(readRecord))
      return found.filter((record) => record !== undefined)
    },
    async version() {
      const folder = await stat(records, { bigint: true }).catch(undefinedWhereAbsent)
      return `${folder?.mtimeNs} ${ownWrites}`
    },
    async removalFence(identity) {
      return (await readRemovals()).find(([file]) => file === fileOf(identity))?.[1]
    },
    async write(record) {
      ownWrites += 1
      await Promise.all([records, keys].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })))
      const file = fileOf(record.identity)
      if (record.layer === 7) {
        const { certificates, ...rest } = record
        // First: a record without its keys could not be read.
        await writeWholeFile(join(keys, file), JSON.stringify(certificates))
        await writeWholeFile(join(records, file), encodeRecord(rest))
      } else await writeWholeFile(join(records, file), encodeRecord(record))
    },
    async remove({ identity, layer }, fence) {
      ownWrites += 1
      const others = (await readRemovals()).filter(([file]) => file !== fileOf(identity))
      await writeWholeFile(removals, JSON.stringify([[fileOf(identity), fence], ...others].slice(0, MOST_REMOVALS)))
      await removeFile(join(records, fileOf(identity)))
      if (layer === 7) await removeFile(join(keys, fileOf(identity)))
    },
  }
}

/** Calls that are under way end within minutes. */
const MOST_REMOVALS = 1_000

const VERSION = 1

function encodeRecord(record: object): string {
  return `${JSON.stringify({ version: VERSION, ...record }, undefined, 2)}\n`
}

/** What we wrote, whole; anything else stops us, as serving less than what was promised would be worse. */
function decodeRecord(text: string, path: string): ServedRecord {
  const { version, ...record } = parseJson(text, path) as { version: number } & ServedRecord
  if (version !== VERSION) throw new Error(`${path} has version ${version}; this program knows ${VERSION}`)
  return record
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // What the parser says quotes the file, and one of them holds keys.
    throw new Error(`${path} is no JSON: somebody changed it. Remove it, and the next sweep makes it again`)
  }
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(undefinedWhereAbsent)
}

async function readFolder(path: string): Promise<string[]> {
  return (await readdir(path).catch(undefinedWhereAbsent)) ?? []
}

function undefinedWhereAbsent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
