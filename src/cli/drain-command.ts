import { parseArgs } from 'node:util'
import { drainFunction } from '../compose/drain-function.ts'
import { CommandFailed } from './command-failed.ts'
import type { Command } from './console.ts'
import { builtInProviders } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** Lets go of every object. Exit code 1 when some could not be let go of. */
export const drainCommand: Command = async (args, console) => {
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args,
    options: { config: { type: 'string' }, 'keep-balancers': flag, 'dry-run': flag },
  })
  const configFile = values.config ?? console.env['WCP_CONFIG']
  if (configFile === undefined)
    throw new UsageError('drain: give the configuration file with --config FILE or WCP_CONFIG')
  const stopping = new AbortController()
  void console.interrupted.then(() => stopping.abort(new Error('interrupted')))
  const dryRun = values['dry-run']
  const { signal } = stopping
  const { left, hindrances } = await drainFunction({
    configFile,
    // What is drained is what was named.
    environment: { ...console.env, WCP_CONFIG_YAML: undefined },
    registry: builtInProviders(),
    write: (line) => console.err(line.trimEnd()),
    keepBalancers: values['keep-balancers'],
    dryRun,
    report: console.out,
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? new CommandFailed('interrupted: what was let go of is; run again for the rest') : error
  })
  for (const hindrance of hindrances) console.err(`in the way: ${hindrance}`)
  if (hindrances.length > 0) return 1
  if (!dryRun) console.out(left === 0 ? 'nothing is held any more' : `${left} objects are still held; run again`)
  return left === 0 ? 0 : 1
}
