import { type Examination, notKnown, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'

const METRIC = 'sweep_last_completed_timestamp_seconds'
const CALL = 'call /sweep?scope=all from a cron: the CronJobs of manifests/, a PingSource, or `wcp watch --sweep-every`'

/** What no event told is found by the sweep, so somebody has to call it. */
export function checkLastSweep({ metrics, now, settings }: Facts): Examination {
  if (!metrics.known)
    return notKnown(metrics.reason, 'give --url, --ca and --token-file metrics=FILE of the function as seen from here')
  const at = lastSweep(metrics.value)
  if (at === undefined) return notKnown('this instance has completed no sweep of scope all since it started', CALL)
  const ago = now - at
  const summary = `${Math.round(ago / 1000)} s ago`
  const message = `the last sweep was completed ${Math.round(ago / 60_000)} minutes ago, sweep.intervalMs says every ${Math.round(settings.sweepIntervalMs / 60_000)}`
  if (ago > 6 * settings.sweepIntervalMs) return { summary, problems: [red(message, CALL)] }
  return { summary, problems: ago > 2 * settings.sweepIntervalMs ? [yellow(message, CALL)] : [] }
}

/** Milliseconds since the epoch. */
function lastSweep(metrics: string): number | undefined {
  const [, value] = new RegExp(`^${METRIC}\\{[^}]*scope="all"[^}]*\\} (\\S+)`, 'm').exec(metrics) ?? []
  const seconds = Number(value)
  return value !== undefined && seconds > 0 ? seconds * 1000 : undefined
}
