import { isCatalogueError } from '../domain/catalogue-error.ts'
import { CommandFailed } from './command-failed.ts'
import type { Command, Console } from './console.ts'
import { ignoreClosedPipe } from './ignore-closed-pipe.ts'
import { UsageError } from './usage-error.ts'

/** One line of help, and the command, loaded only when it is asked for: most of a start is loading code. */
const COMMANDS: Readonly<Record<string, { help: string; load: () => Promise<Command> }>> = {
  serve: {
    help: 'run the function: --config FILE [--port N]',
    load: async () => (await import('./serve-command.ts')).serveCommand,
  },
  local: {
    help: 'a local control plane, the function and a fake cloud: [--demo] [--port N] [--directory DIR]',
    load: async () => (await import('./local-command.ts')).localCommand,
  },
  replay: {
    help: 'send a recorded request and show what follows: FIXTURE… [--url URL] [--ca FILE] [--token-file FILE]',
    load: async () => (await import('./replay-command.ts')).replayCommand,
  },
  sweep: {
    help: 'sweep a running function to the end: --url URL [--scope SCOPE] [--ca FILE] [--token-file FILE]',
    load: async () => (await import('./sweep-command.ts')).sweepCommand,
  },
  drain: {
    help: 'let go of every object, before uninstalling or going back to the Go manager: --config FILE [--keep-balancers] [--dry-run]',
    load: async () => (await import('./drain-command.ts')).drainCommand,
  },
  certs: {
    help: 'make and renew the certificates of the function, and keep caBundle: --host HOST… (--directory DIR | --secret NAMESPACE/NAME) [--kubeconfig FILE] [--check]; more with --help',
    load: async () => (await import('./certs-command.ts')).certsCommand,
  },
  manifests: {
    help: 'print what to apply, filled in: --overlay NAME [--target host|karmada] [--url URL] [--ca FILE] [--class NAME]… [--image IMAGE] [--namespace NAME] [--provider NAME]',
    load: async () => (await import('./manifests-command.ts')).manifestsCommand,
  },
  doctor: {
    help: 'examine an installation: --config FILE [--kubeconfig FILE] [--url URL] [--ca FILE] [--token-file FILE] [--namespace NAME] [-o text|json] [--strict]',
    load: async () => (await import('./doctor-command.ts')).doctorCommand,
  },
  init: {
    help: 'begin a provider of your own: provider NAME [--directory DIR] [--kind multicluster|cloud]',
    load: async () => (await import('./init-command.ts')).initCommand,
  },
  watch: {
    help: 'tell a running function of what no review tells: --config FILE [--sink URL] [--ca FILE] [--token-file FILE] [--sweep-every SECONDS] [--scope SCOPE]',
    load: async () => (await import('./watch-command.ts')).watchCommand,
  },
}

/** Runs one command; answers the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runCli(args: string[], console: Console = processConsole()): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    console.out(usage())
    return name === undefined ? 2 : 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    console.err(`unknown command "${name}"\n\n${usage()}`)
    return 2
  }
  try {
    return await (await command.load())(rest, console)
  } catch (error) {
    console.err(messageOf(error))
    return isUsage(error) ? 2 : 1
  }
}

function usage(): string {
  const lines = Object.entries(COMMANDS).map(([name, { help }]) => `  ${name.padEnd(11)}${help}`)
  return ['usage: wcp <command> [options]', '', ...lines].join('\n')
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

function processConsole(): Console {
  ignoreClosedPipe([process.stdout, process.stderr])
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    env: process.env,
    get interrupted() {
      return new Promise<void>((resolve) => {
        process.once('SIGINT', () => resolve())
        process.once('SIGTERM', () => resolve())
      })
    },
  }
}
