import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import { CERTIFICATE_FILES, type CertificateFiles, type CertificateKeeper } from './certificate-keeper.ts'

// A key is there before its certificate: whoever is interrupted in between leaves a pair that is refused, and made anew.
const ORDER = ['ca.key', 'ca.crt', 'issued.crt', 'tls.key', 'tls.crt'] as const

/** Files of a directory, each replaced by a rename. Keys are for their owner alone (0600). */
export function createCertificateFolder(folder: string): CertificateKeeper {
  return {
    place: folder,
    async read() {
      const files: CertificateFiles = {}
      for (const name of CERTIFICATE_FILES) {
        const text = await readIfThere(join(folder, name))
        if (text !== undefined) files[name] = text
      }
      return files
    },
    async write(files) {
      try {
        await mkdir(folder, { recursive: true })
        await removeUnfinished(folder)
        for (const name of ORDER) {
          const text = files[name]
          if (text !== undefined) await replace(folder, name, text)
        }
      } catch (error) {
        throw unusable(
          `${folder} cannot be written (${codeOf(error)}): give a directory of ours with --directory`,
          error,
        )
      }
    },
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unusable(`${path} cannot be read (${codeOf(error)})`, error)
  }
}

/** Of a run that was killed; one of them may hold a key. */
async function removeUnfinished(folder: string): Promise<void> {
  const isOurs = (name: string) => ORDER.some((file) => name.startsWith(`.${file}.`))
  for (const name of (await readdir(folder)).filter(isOurs)) await rm(join(folder, name), { force: true })
}

async function replace(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name)
  if ((await readIfThere(path)) === text) return
  const next = join(folder, `.${name}.${randomUUID()}`)
  try {
    await writeFile(next, text, { mode: name.endsWith('.key') ? 0o600 : 0o644, flag: 'wx', flush: true })
    await rename(next, path)
  } finally {
    await rm(next, { force: true })
  }
}

function unusable(message: string, cause: unknown): CatalogueError {
  return new CatalogueError('CertificateInvalid', message, { field: '--directory', cause })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
