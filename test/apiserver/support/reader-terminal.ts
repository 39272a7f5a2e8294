import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathWith } from '../../support/walk-through.ts'
import type { ApiServer } from '../start-api-server.ts'

const ROOT = join(import.meta.dirname, '../../..')
export const WCP = join(ROOT, 'src/cli/main.js')
const SCRIPT_MS = 120_000

/** A shell as the reader of a document has it, in a directory of its own with `manifests` in it. */
export interface Terminal {
  directory: string
  /** Fails with what was printed. */
  run(script: string): Promise<void>
}

export async function openTerminal(server: ApiServer, variables: Record<string, string>): Promise<Terminal> {
  const directory = await mkdtemp(join(server.directory, 'installation-'))
  const programs = join(directory, 'bin')
  await mkdir(programs)
  await writeFile(join(programs, 'wcp'), `#!/bin/sh\nexec '${process.execPath}' '${WCP}' "$@"\n`)
  await chmod(join(programs, 'wcp'), 0o755)
  await symlink(join(ROOT, 'manifests'), join(directory, 'manifests'))
  const env = {
    PATH: `${programs}:${pathWith(server.kubectl)}`,
    HOME: directory,
    KUBECONFIG: server.kubeconfigPath,
    ...variables,
  }
  return { directory, run: (script) => runScript(script, directory, env) }
}

function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    // With all that it started, which would else keep its output open.
    const impatient = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), SCRIPT_MS)
    const chunks: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void chunks.push(String(chunk)))
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(impatient)
      if (code === 0) resolve()
      else reject(new Error(`exit ${code}:\n${script}\n\n${chunks.join('')}`))
    })
  })
}
