import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'
import { isOurs } from '../webhook.ts'
import { doorsHeard } from './doors-heard.ts'

// What the API server takes where none is given.
const DEFAULT_TIMEOUT_SECONDS = 10

/** How long the doors keep users waiting, against the time after which the API server goes on without them. */
export function checkLatency(facts: Facts): Examination {
  const { dryRun, webhooks } = facts
  if (!dryRun.known) return notKnown(dryRun.reason, 'give --kubeconfig of a user who may create the object')
  if (!webhooks.known)
    return notKnown(webhooks.reason, 'give --kubeconfig of a user who may list webhook configurations')
  if (doorsHeard(facts).length === 0) return notKnown('no door answered the dry run', 'see dry-run')
  const timeouts = webhooks.value.filter(isOurs).map(({ webhook }) => webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS)
  const limitMs = Math.min(...timeouts, DEFAULT_TIMEOUT_SECONDS) * 1000
  const { firstMs, secondMs } = dryRun.value
  const summary = `${Math.round(secondMs)} ms through all doors (first ${Math.round(firstMs)} ms), timeout ${limitMs} ms`
  return { summary, problems: problemsOf(firstMs, secondMs, limitMs) }
}

function problemsOf(firstMs: number, secondMs: number, limitMs: number): Problem[] {
  const remedy =
    'run the function nearer to the API server, with a processor of its own, and at least one instance always on'
  if (secondMs >= limitMs) return [red('requests take as long as the timeout: reviews are lost', remedy)]
  if (secondMs >= limitMs / 2) return [yellow('requests take more than half of the timeout', remedy)]
  if (firstMs >= limitMs)
    return [yellow('the first request took longer than the timeout: a cold start loses reviews', remedy)]
  return []
}
