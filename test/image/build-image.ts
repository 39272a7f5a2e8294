import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bundleFunctions } from '../../functions/bundle-functions.ts'
import type { ContainerTools } from './container-tools.ts'

const ROOT = join(import.meta.dirname, '../..')
const BASE = 'localhost/node-from-npm'
export const IMAGE = 'localhost/webhook-cloud-provider'

/** The image that the Containerfile describes, on a base put together from the Node that npm brings: nothing is pulled. */
export async function buildImage(folder: string, { buildah }: ContainerTools): Promise<void> {
  await assembleBase(buildah)
  const context = join(folder, 'context')
  mkdirSync(context, { recursive: true })
  for (const file of ['Containerfile', '.dockerignore']) copyFileSync(join(ROOT, file), join(context, file))
  await bundleFunctions(join(context, 'dist/functions'))
  await buildah('build', '--isolation', 'chroot', '--build-arg', `BASE=${BASE}`, '--tag', IMAGE, context)
}

/** Node where the usual base image has it, and the shared libraries that it needs; nothing else. */
async function assembleBase(buildah: ContainerTools['buildah']): Promise<void> {
  const require = createRequire(import.meta.url)
  const node = join(dirname(require.resolve('node/package.json')), 'bin/node')
  const base = await buildah('from', 'scratch')
  await buildah('copy', base, node, '/nodejs/bin/node')
  for (const library of librariesOf(node)) await buildah('copy', base, library, library)
  await buildah('commit', '--rm', base, BASE)
}

/** Lines such as `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)` and `/lib64/ld-linux-x86-64.so.2 (0x…)`. */
function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? [])
}
