import type { CodeCache } from '../compose/code-cache.ts'

/** What a command needs of the terminal and the process; passed in so that commands can be run in tests. */
export interface Console {
  out(line: string): void
  err(line: string): void
  env: Readonly<Record<string, string | undefined>>
  /** Of the bundle that this runs from, if any. */
  codeCache?: CodeCache
  /** Resolves at SIGINT or SIGTERM. */
  interrupted: Promise<void>
}

/** A command: answers the exit code. Throws `UsageError` (2) or any other error (1). */
export type Command = (args: string[], console: Console) => Promise<number>
