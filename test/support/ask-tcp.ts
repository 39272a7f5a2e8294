import { connect } from 'node:net'

/** Connects, says `hello` and answers the first line, or how it failed. */
export function askTcp(host: string, port: number, options: { from?: string } = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, ...(options.from === undefined ? {} : { localAddress: options.from }) })
    const end = (answer: string) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(5_000, () => end('!timeout'))
    socket.on('connect', () => socket.write('hello\n'))
    socket.on('data', (chunk) => end(chunk.toString().trim()))
    socket.on('error', (error: NodeJS.ErrnoException) => end(`!${error.code}`))
    socket.on('close', () => end('!closed'))
  })
}

/** A connection that stays open, after its first answer. */
export async function openTcp(host: string, port: number): Promise<OpenTcp> {
  const socket = connect({ host, port })
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      socket.once('data', (chunk) => resolve(chunk.toString().trim()))
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('closed')))
      socket.write('hello\n')
    })
  return { answer: await ask(), ask, close: () => socket.destroy() }
}

interface OpenTcp {
  answer: string
  ask(): Promise<string>
  close(): void
}

/** That many callers, each asking again and again on a new connection, until it is stopped. */
export function startLoad(host: string, port: number, callers: number): Load {
  let running = true
  const answers = new Map<string, number>()
  async function call(): Promise<void> {
    while (running) {
      const answer = await askTcp(host, port)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  const done = Promise.all(Array.from({ length: callers }, call))
  const count = () => [...answers.values()].reduce((sum, some) => sum + some, 0)
  return {
    count,
    async stop() {
      running = false
      await done
      const all = count()
      const failures = [...answers].filter(([answer]) => answer.startsWith('!'))
      return { all, failed: failures.reduce((sum, [, count]) => sum + count, 0), answers: Object.fromEntries(answers) }
    },
  }
}

interface Load {
  /** Answers so far. */
  count(): number
  stop(): Promise<LoadResult>
}

interface LoadResult {
  all: number
  failed: number
  answers: Record<string, number>
}
