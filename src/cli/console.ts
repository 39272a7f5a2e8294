/** What a command needs of the terminal and the process; passed in so that commands can be run in tests. */
export interface Console {
  out(line: string): void
  err(line: string): void
  env: Readonly<Record<string, string | undefined>>
  /** Resolves at SIGINT or SIGTERM. */
  interrupted: Promise<void>
}

/** A command: answers the exit code. Throws `UsageError` (2) or any other error (1). */
export type Command = (args: string[], console: Console) => Promise<number>
