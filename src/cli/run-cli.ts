import { isCatalogueError } from '../domain/catalogue-error.ts'
import { CommandFailed } from './command-failed.ts'
import type { Command, Console } from './console.ts'
import { processConsole } from './process-console.ts'
import { UsageError } from './usage-error.ts'

interface Entry {
  does: string
  /** Only when it is asked for: most of a start is loading code. */
  load: () => Promise<Command>
}

const COMMANDS = {
  serve: {
    does: 'run the function',
    load: async () => (await import('./serve-command.ts')).serveCommand,
  },
  local: {
    does: 'a local control plane, the function and a fake cloud: try it',
    load: async () => (await import('./local-command.ts')).localCommand,
  },
  replay: {
    does: 'send a recorded request and show what follows',
    load: async () => (await import('./replay-command.ts')).replayCommand,
  },
  sweep: {
    does: 'sweep a running function to the end, for cron',
    load: async () => (await import('./sweep-command.ts')).sweepCommand,
  },
  drain: {
    does: 'let go of every object, before uninstalling or going back to the Go manager',
    load: async () => (await import('./drain-command.ts')).drainCommand,
  },
  certs: {
    does: 'make and renew the certificates of the function, and keep caBundle',
    load: async () => (await import('./certs-command.ts')).certsCommand,
  },
  manifests: {
    does: 'print what to apply, filled in',
    load: async () => (await import('./manifests-command.ts')).manifestsCommand,
  },
  doctor: {
    does: 'examine an installation',
    load: async () => (await import('./doctor-command.ts')).doctorCommand,
  },
  init: {
    does: 'begin a provider of your own',
    load: async () => (await import('./init-command.ts')).initCommand,
  },
  provider: {
    does: 'serve a provider over HTTP, beside what it programs',
    load: async () => (await import('./provider-command.ts')).providerCommand,
  },
  conformance: {
    does: 'examine a provider that is served over HTTP',
    load: async () => (await import('./conformance-command.ts')).conformanceCommand,
  },
  watch: {
    does: 'tell a running function of what no review tells',
    load: async () => (await import('./watch-command.ts')).watchCommand,
  },
} as const satisfies Record<string, Entry>

type CommandName = keyof typeof COMMANDS

/** Runs one command; answers the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runCli(args: string[], console: Console = processConsole()): Promise<number> {
  const [first, about] = args
  const [name, ...rest] = first === 'help' && about !== undefined ? [about, '--help'] : args
  if (name === undefined || name === 'help' || isHelp(name)) {
    console.out(usage())
    return name === undefined ? 2 : 0
  }
  if (!isCommand(name)) {
    console.err(`unknown command "${name}"\n\n${usage()}`)
    return 2
  }
  if (rest.some(isHelp)) {
    console.out((await import('./help.ts')).HELP[name])
    return 0
  }
  try {
    return await (await COMMANDS[name].load())(rest, console)
  } catch (error) {
    console.err(messageOf(error))
    return isUsage(error) ? 2 : 1
  }
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name)
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h'
}

function usage(): string {
  const lines = Object.entries(COMMANDS).map(([name, { does }]) => `  ${name.padEnd(13)}${does}`)
  return ['usage: wcp <command> [options]', '', ...lines, '', 'the options of a command: wcp <command> --help'].join(
    '\n',
  )
}

const USAGE_CODES = ['ConfigurationInvalid', 'ProviderUnknown', 'KubeconfigInvalid', 'CertificateInvalid'] as const

/** What the caller wrote is wrong, on the command line or in a file it names. */
function isUsage(error: unknown): boolean {
  if (error instanceof UsageError) return true
  if (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) return true
  return USAGE_CODES.some((code) => isCatalogueError(error, code))
}

function messageOf(error: unknown): string {
  if (isCatalogueError(error)) return `${error.code}: ${error.message}`
  if (isUsage(error) || error instanceof CommandFailed) return String(error instanceof Error ? error.message : error)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
