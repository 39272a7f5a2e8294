import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** A real Caddy with an admin endpoint on a free port of this machine, and nothing configured. */
export interface RunningCaddy {
  admin: string
  /** Where it keeps its files. */
  directory: string
  /** The admin endpoint once more, through a tunnel that counts, and loses answers if it is asked to. */
  tunnel(): Promise<AdminTunnel>
  /** What it has, as the admin endpoint answers it. */
  configuration(): Promise<Record<string, unknown>>
  /** An administrator at work, without If-Match. */
  change(method: string, path: string, value?: unknown): Promise<void>
  /** Killed, and started with nothing configured. */
  restart(): Promise<void>
  /** Killed without a word. */
  kill(): Promise<void>
  /** In KiB, of the process. */
  residentMemory(): number
  close(): Promise<void>
}

export interface AdminTunnel {
  url: string
  /** `PATCH /config/apps/http`, in the order in which they came. */
  requests: string[]
  /** The next answer to a request of this method is cut off; what was asked for is done. */
  loseAnswerTo(method: string): void
  close(): Promise<void>
}

/** Why there is none, and what to do; undefined when there is one. In CI a missing one is a failure. */
export function caddyMissing(environment: NodeJS.ProcessEnv): string | undefined {
  const found = spawnSync('caddy', ['version']).status === 0
  if (found || environment['CI'] !== undefined) return undefined
  return 'caddy is not installed: apt-get install -y caddy'
}

/** Of a Caddy that a client reaches over mutual TLS. */
export interface SecureEndpoint {
  url: string
  /** The authority of its certificate, which is for `localhost`. */
  caFile: string
}

/** With the remote endpoint of docs/caddy.md, for a client with this certificate. */
export async function startSecureCaddy(clientPem: string): Promise<RunningCaddy & { secure: SecureEndpoint }> {
  const port = await freePort()
  const publicKey = new X509Certificate(clientPem).raw.toString('base64')
  const methods = ['GET', 'PUT', 'PATCH', 'DELETE']
  const caddy = await startCaddy('port', {
    identity: { identifiers: ['localhost'], issuers: [{ module: 'internal' }] },
    remote: {
      listen: `127.0.0.1:${port}`,
      access_control: [{ public_keys: [publicKey], permissions: [{ paths: ['/config/', '/id/'], methods }] }],
    },
  })
  const caFile = join(caddy.directory, 'caddy', 'pki', 'authorities', 'local', 'root.crt')
  return { ...caddy, secure: { url: `https://127.0.0.1:${port}`, caFile } }
}

/** Its admin endpoint is on a free port, or on a socket. */
export async function startCaddy(over: 'port' | 'socket' = 'port', moreOfAdmin: object = {}): Promise<RunningCaddy> {
  const directory = mkdtempSync(join(tmpdir(), 'caddy-'))
  const socket = over === 'socket' ? join(directory, 'admin.sock') : undefined
  const port = await freePort()
  const tunnelPort = await freePort()
  const listen = socket === undefined ? `127.0.0.1:${port}` : `unix/${socket}`
  const admin = socket === undefined ? `http://127.0.0.1:${port}` : `unix://${socket}`
  // Caddy answers to hosts that it knows.
  const origins = [port, tunnelPort].map((each) => `127.0.0.1:${each}`)
  const file = join(directory, 'caddy.json')
  writeFileSync(
    file,
    JSON.stringify({
      admin: { listen, ...(socket === undefined && { origins }), config: { persist: false }, ...moreOfAdmin },
    }),
  )
  let running: ChildProcess | undefined

  async function start(): Promise<void> {
    const environment = { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
    running = spawn('caddy', ['run', '--config', file], { stdio: 'ignore', env: environment })
    for (let attempt = 0; attempt < 400; attempt += 1) {
      if ((await ask('GET', '/config/').catch(() => undefined)) !== undefined) return
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    await kill()
    throw new Error(`caddy does not answer on ${listen}`)
  }

  async function kill(): Promise<void> {
    const stopping = running
    running = undefined
    if (stopping === undefined || stopping.exitCode !== null) return
    const exited = new Promise((resolve) => void stopping.once('exit', resolve))
    stopping.kill('SIGKILL')
    await exited
  }

  function ask(method: string, path: string, value?: unknown): Promise<string> {
    const options = {
      method,
      path,
      agent: false,
      headers: { 'content-type': 'application/json', ...(socket !== undefined && { host: '' }) },
      ...(socket !== undefined && { setHost: false }),
      ...(socket === undefined ? { host: '127.0.0.1', port } : { socketPath: socket }),
    }
    return new Promise((resolve, reject) => {
      const sent = request(options, async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        const body = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(body)
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${body}`))
      })
      sent.once('error', reject)
      sent.end(value === undefined ? undefined : JSON.stringify(value))
    })
  }

  await start()
  return {
    admin,
    directory,
    tunnel: () => openTunnel(tunnelPort, port),
    configuration: async () => JSON.parse(await ask('GET', '/config/')) as Record<string, unknown>,
    change: async (method, path, value) => void (await ask(method, path, value)),
    async restart() {
      await kill()
      await start()
    },
    kill,
    residentMemory() {
      const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(running?.pid)])
      return Number(stdout.toString().trim())
    },
    async close() {
      await kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** One request a connection, as the provider sends them. */
async function openTunnel(from: number, to: number): Promise<AdminTunnel> {
  const requests: string[] = []
  const losing = new Set<string>()
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    near.once('data', (head) => {
      const [method = '', path = ''] = head.toString('latin1').split(' ')
      requests.push(`${method} ${decodeURIComponent(path)}`)
      if (losing.delete(method)) far.once('data', () => near.destroy())
      else far.pipe(near)
      far.write(head)
      near.pipe(far)
    })
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  await new Promise<void>((resolve) => void server.listen(from, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${from}`,
    requests,
    loseAnswerTo: (method) => void losing.add(method),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
