import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Console } from '../../src/cli/console.ts'
import { runCli } from '../../src/cli/run-cli.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.js')

export interface Run {
  code: number | null
  out: string
  err: string
}

/** A terminal that remembers, and a process that is interrupted when told. */
export interface RecordingConsole extends Console {
  text(): Run
  interrupt(): void
}

export function createRecordingConsole(env: Console['env'] = {}): RecordingConsole {
  const out: string[] = []
  const err: string[] = []
  let interrupt = () => {}
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve
  })
  return {
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
    env,
    interrupted,
    interrupt,
    text: () => ({ code: null, out: out.join('\n'), err: err.join('\n') }),
  }
}

/** A command in this process, to its end. */
export async function wcp(args: string[], env: Console['env'] = {}): Promise<Run> {
  const console = createRecordingConsole(env)
  const code = await runCli(args, console)
  return { ...console.text(), code }
}

/** A command as a process of its own. */
export interface StartedCommand {
  child: ChildProcess
  /** Resolves with the match in what was printed so far; rejects when the process ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  ended: Promise<Run>
}

export interface StartOptions {
  env?: Record<string, string>
  /** Another Node than the one that runs this. */
  node?: string
  /** For Node, before the program. */
  nodeArgs?: string[]
}

export function startWcp(args: string[], { env = {}, node, nodeArgs = [] }: StartOptions = {}): StartedCommand {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  const child = spawn(node ?? process.execPath, [...nodeArgs, MAIN, ...args], {
    env: { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { out: '', err: '' }
  const news = new EventTarget()
  const collect = (name: 'out' | 'err') => (chunk: string) => {
    texts[name] += chunk
    news.dispatchEvent(new Event('news'))
  }
  child.stdout.setEncoding('utf8').on('data', collect('out'))
  child.stderr.setEncoding('utf8').on('data', collect('err'))
  const ended = new Promise<Run>((resolve) => {
    child.on('close', (code) => resolve({ code, ...texts }))
  })
  return {
    child,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(texts.out) ?? pattern.exec(texts.err)
          if (match !== null) resolve(match)
        }
        news.addEventListener('news', look)
        look()
        void ended.then(({ code, err }) => reject(new Error(`ended with ${code} before ${pattern}: ${err}`)))
      }),
  }
}
