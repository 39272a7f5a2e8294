import { connect, createServer } from 'node:net'
import { ConfigurationRefused } from './check-configuration.ts'

/**
 * Whether this machine lets HAProxy listen where it is to. `haproxy -c` does not look, and a worker that cannot listen has
 * the one that serves pause for two seconds: connections would fail. `before` is what runs; where that is not known only
 * addresses are looked at.
 */
export async function checkBinds(text: string, before: string | undefined): Promise<void> {
  const binds = bindsOf(text)
  for (const host of new Set(binds.map((bind) => bind.host))) {
    if ((await tryToListen(host, 0)) === 'EADDRNOTAVAIL') {
      throw new ConfigurationRefused(`the address ${host} is not on this machine`)
    }
  }
  if (before === undefined) return
  const bound = new Set(bindsOf(before).map(({ line }) => line))
  for (const { host, port } of binds.filter((bind) => !bound.has(bind.line))) {
    const failure = await tryToListen(host, port)
    // Who may not listen there can still ask whether somebody does.
    if (failure === 'EADDRINUSE' || (failure === 'EACCES' && (await isListenedAt(host, port)))) {
      throw new ConfigurationRefused(`port ${port} of ${host} is taken by another program of this machine`)
    }
  }
}

interface Bind {
  host: string
  port: number
  /** Of the port alone, as options of a bind can change. */
  line: string
}

/** `bind 198.51.100.7:80`, `bind [2001:db8::7]:80 v6only`, `bind *:80` */
function bindsOf(text: string): Bind[] {
  return [...text.matchAll(/^ {2}bind (\[([^\]]+)\]|[^:\s]+):(\d+)/gm)].map(([line, host = '', inBrackets, port]) => ({
    host: inBrackets ?? (host === '*' ? '0.0.0.0' : host),
    port: Number(port),
    line,
  }))
}

/** How it fails; undefined where it does not. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

/** Connecting to the address of all addresses leads to this machine. */
function isListenedAt(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('connect', () => end(true))
    socket.on('error', () => end(false))
    socket.on('timeout', () => end(false))
  })
}
