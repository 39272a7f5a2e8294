import { type CodeCache, NO_CODE_CACHE } from '../compose/code-cache.ts'
import type { Console } from './console.ts'
import { ignoreClosedPipe } from './ignore-closed-pipe.ts'

/** The terminal, environment and signals of this process. */
export function processConsole(codeCache: CodeCache = NO_CODE_CACHE): Console {
  ignoreClosedPipe([process.stdout, process.stderr])
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    env: process.env,
    codeCache,
    get interrupted() {
      return new Promise<void>((resolve) => {
        process.once('SIGINT', () => resolve())
        process.once('SIGTERM', () => resolve())
      })
    },
  }
}
