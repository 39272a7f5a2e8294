import { parseArgs } from 'node:util'
import { readSink } from '../adapters/cloudevents/read-sink.ts'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { kubernetesSource } from '../compose/kubernetes-source.ts'
import { loadConfig, readConfigFile } from '../compose/load-settings.ts'
import { runWatch } from '../compose/run-watch.ts'
import type { SweepTicks } from '../compose/sweep-ticks.ts'
import { SWEEP_SCOPES } from '../domain/sweep-report.ts'
import type { Command } from './console.ts'
import { UsageError } from './usage-error.ts'

/** Watches until it is told to stop. Exit code 1 when events were left that nobody took. */
export const watchCommand: Command = async (args, console) => {
  const values = parseWatchArgs(args)
  const sweep = sweepTicks(values)
  const configFile = values.config ?? console.env['WCP_CONFIG']
  if (configFile === undefined)
    throw new UsageError('watch: give the configuration file with --config FILE or WCP_CONFIG')
  // The function's sink is the sink here too, unless another is given: its file need not name one.
  const { KUBECONFIG, K_SINK = values.sink } = console.env
  const config = loadConfig(readConfigFile(configFile), { KUBECONFIG, K_SINK })
  const sink = readSink({ url: values.sink, caFile: values.ca, tokenFile: values['token-file'] }, console.env)
  const write = (line: string) => console.out(line.trimEnd())
  const stopKeepingAlive = keepAlive()
  try {
    const { left } = await runWatch({
      kubernetes: kubernetesSource(config),
      timeoutMs: config.kubernetes.timeoutMs,
      resources: config.watch.resources,
      sink,
      ...(sweep === undefined ? {} : { sweep }),
      stopped: console.interrupted,
      drainMs: config.shutdown.drainMs,
      clock: createSystemClock(),
      random: Math.random,
      logger: createPinoLogger({ level: config.log.level, destination: { write } }),
    })
    return left === 0 ? 0 : 1
  } finally {
    stopKeepingAlive()
  }
}

function parseWatchArgs(args: string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: { config: text, sink: text, ca: text, 'token-file': text, 'sweep-every': text, scope: text },
  })
  return values
}

function sweepTicks(values: ReturnType<typeof parseWatchArgs>): SweepTicks | undefined {
  const { 'sweep-every': every, scope: wanted = 'all' } = values
  const scope = SWEEP_SCOPES.find((known) => known === wanted)
  if (scope === undefined) throw new UsageError(`watch: --scope must be one of ${SWEEP_SCOPES.join(', ')}`)
  if (every === undefined) return undefined
  const seconds = Number(every)
  if (!/^\d+$/.test(every) || seconds < 1 || seconds > 86_400)
    throw new UsageError(`watch: --sweep-every must be a whole number of seconds from 1 to 86400`)
  return { everyMs: seconds * 1000, scope }
}

/** While both sides are down nothing else does: there is no connection, and the clock's timers do not count. */
function keepAlive(): () => void {
  const timer = setInterval(() => {}, 3_600_000)
  return () => clearInterval(timer)
}
