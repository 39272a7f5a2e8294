import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFunctions } from '../functions/bundle-functions.ts'
import { createCertificateAuthority } from '../src/adapters/certificates/certificate-authority.ts'
import { buildFloors } from './support/build-floors.ts'

/** What figures are measured with; what takes long to make is made when it is first asked for. */
export interface Bench {
  /** Fewer rounds and smaller numbers: enough to find what got much worse. */
  quick: boolean
  /** So many at first; as each figure has it unless given. */
  rounds: number | undefined
  log(line: string): void
  /** For files; goes with the bench. */
  folder: string
  tls: TlsFiles
  /** The folder with a bundle for each leaf. */
  bundles(): Promise<string>
  /** The folder with what ours is measured against: `bare-https.cjs` … */
  floors(): Promise<string>
  close(): void
}

/** For 127.0.0.1. */
export interface TlsFiles {
  certFile: string
  keyFile: string
  caFile: string
  caPem: string
}

export interface BenchOptions {
  quick: boolean
  rounds: number | undefined
  log(line: string): void
}

export async function createBench(options: BenchOptions): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  return {
    ...options,
    folder,
    tls: await writeTls(folder),
    bundles: once(async () => {
      const bundles = join(folder, 'bundles')
      await bundleFunctions(bundles)
      return bundles
    }),
    floors: once(async () => {
      const floors = join(folder, 'floors')
      mkdirSync(floors)
      await buildFloors(floors)
      return floors
    }),
    close: remove,
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

async function writeTls(folder: string): Promise<TlsFiles> {
  const authority = await createCertificateAuthority(Date.now(), 'bench')
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'])
  const write = (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const { caPem } = authority
  return {
    certFile: write('tls.crt', certPem),
    keyFile: write('tls.key', keyPem),
    caFile: write('ca.crt', caPem),
    caPem,
  }
}
