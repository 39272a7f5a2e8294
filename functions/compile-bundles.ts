import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Script } from 'node:vm'
import { stringify } from 'yaml'
import { createCertificateAuthority } from '../src/adapters/certificates/certificate-authority.ts'
import { createSystemClock } from '../src/adapters/system/system-clock.ts'
import { karmadaCrds } from '../src/local/crds/karmada-crds.ts'
import { kubeconfigOf } from '../src/local/kubeconfig.ts'
import { startLocalControlPlane } from '../src/local/start-local-control-plane.ts'
import { WARM_UP_CLASS, WARM_UP_OBJECTS } from './warm-up-requests.ts'

const run = promisify(execFile)
const USER = 'system:serviceaccount:webhook-cloud-provider:webhook-cloud-provider'

/**
 * Writes beside every part of every leaf the code that V8 compiles of it. Each leaf serves for a moment, with a Kubernetes
 * API and a sink of its own, so that what it needs to serve is in it.
 */
export async function compileBundles(folder: string, leaves: readonly string[]): Promise<void> {
  const world = await startWorld()
  try {
    for (const leaf of leaves) {
      const env = { PATH: process.env['PATH'], ...(await world.environment(leaf)) }
      await run(process.execPath, [join(import.meta.dirname, 'compile-leaf.ts'), leaf, join(folder, leaf)], { env })
      compileTheRest(join(folder, leaf))
    }
  } finally {
    await world.close()
  }
}

/** What no leaf needs to serve, traces for instance: at least what is called when it is loaded. */
function compileTheRest(folder: string): void {
  const files = readdirSync(folder)
  for (const name of files.filter((file) => file.endsWith('.cjs') && file !== 'index.cjs')) {
    const cache = name.replace(/\.cjs$/, '.cache')
    if (files.includes(cache)) continue
    const script = new Script(readFileSync(join(folder, name), 'latin1'))
    writeFileSync(join(folder, cache), script.createCachedData())
  }
}

interface World {
  /** A configuration for this leaf, in variables. */
  environment(leaf: string): Promise<Record<string, string>>
  close(): Promise<void>
}

async function startWorld(): Promise<World> {
  const authority = await createCertificateAuthority(Date.now())
  const plane = await startLocalControlPlane({ clock: createSystemClock(), definitions: karmadaCrds, authority })
  plane.core.preload(WARM_UP_OBJECTS as never)
  const sink = createServer((request, response) => request.resume().once('end', () => response.writeHead(202).end()))
  await new Promise<void>((resolve) => void sink.listen(0, '127.0.0.1', resolve))
  const files = mkdtempSync(join(tmpdir(), 'warm-up-'))
  const tls = { certFile: join(files, 'tls.crt'), keyFile: join(files, 'tls.key') }
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'])
  writeFileSync(tls.certFile, certPem)
  writeFileSync(tls.keyFile, keyPem)
  const { url, caPem } = plane
  return {
    async environment(leaf) {
      const listens = leaf === 'node' || leaf === 'container'
      const queue = listens
        ? { kind: 'memory' }
        : { kind: 'cloudevents', sink: `http://127.0.0.1:${(sink.address() as AddressInfo).port}` }
      return {
        PORT: String(await freePort()),
        WCP_KUBECONFIG_YAML: kubeconfigOf({ url, caPem, token: plane.tokenFor(USER), user: USER }),
        WCP_CONFIG_YAML: stringify({
          provider: { name: 'fake' },
          identity: USER,
          ingressClass: { names: [WARM_UP_CLASS], default: true },
          queue,
          server: { host: '127.0.0.1', ...(listens && { tls }) },
          callers: { anyone: true },
          log: { level: 'warn' },
        }),
      }
    },
    async close() {
      sink.close()
      await plane.close()
      rmSync(files, { recursive: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createSocketServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
