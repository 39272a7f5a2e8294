import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** buildah and podman over a store of their own, which the machine's images and containers do not see. */
export interface ContainerTools {
  buildah(...args: string[]): Promise<string>
  podman(...args: string[]): Promise<string>
  /** A container in the foreground: its process ends with the container, and with its exit code. */
  run(runtime: string, ...args: string[]): ChildProcess
}

export function containerTools(folder: string): ContainerTools {
  const store = ['--root', `${folder}/root`, '--runroot', `${folder}/run`, '--storage-driver', 'vfs']
  const call = async (tool: string, args: string[]) => (await execute(tool, [...store, ...args])).stdout.trim()
  return {
    buildah: (...args) => call('buildah', args),
    podman: (...args) => call('podman', args),
    run: (runtime, ...args) =>
      spawn('podman', [...store, '--runtime', runtime, 'run', ...args], { stdio: ['ignore', 'inherit', 'inherit'] }),
  }
}

/** Why there is no image to be made, and what to do. */
export async function toolsMissing(): Promise<string | undefined> {
  for (const tool of ['buildah', 'podman']) {
    if (!(await isThere(tool)))
      return `${tool} is not installed: apt-get install -y --no-install-recommends buildah podman runc`
  }
  return undefined
}

function isThere(tool: string): Promise<boolean> {
  return execute(tool, ['--version']).then(
    () => true,
    () => false,
  )
}
