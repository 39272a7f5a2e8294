import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'
import { isOurs, type RegisteredWebhook } from '../webhook.ts'

/** Every write of ours to these passes Karmada's own webhooks. */
const GROUP = 'networking.karmada.io'
const CONFIGURATIONS = ['mutating-config', 'validating-config']

/** They decide our writes: while they do not answer, nothing of ours is written. */
export function checkKarmadaWebhooks({ webhooks, dryRun, settings }: Facts): Examination | undefined {
  if (settings.controlPlane !== 'karmada') return undefined
  if (!webhooks.known)
    return notKnown(webhooks.reason, 'give --kubeconfig of a user who may list webhook configurations')
  const theirs = webhooks.value.filter((each) => CONFIGURATIONS.includes(each.configuration) && concernsUs(each))
  const problems: Problem[] = [...absent(theirs), ...lenient(theirs)]
  const unanswered = unansweredIn(dryRun, webhooks.value)
  if (unanswered !== undefined)
    problems.push(
      red(
        `${unanswered} does not answer: no write of ours or of users is taken`,
        'bring karmada-webhook up, and see its certificate',
      ),
    )
  else if (!dryRun.known)
    problems.push(
      yellow(
        `not known whether they answer: ${dryRun.reason}`,
        'give --kubeconfig of a user who may create the object',
      ),
    )
  return { summary: `${theirs.length} for ${GROUP}`, problems }
}

function concernsUs({ webhook }: RegisteredWebhook): boolean {
  return (webhook.rules ?? []).some(({ apiGroups = [] }) => apiGroups.includes(GROUP) || apiGroups.includes('*'))
}

function absent(theirs: readonly RegisteredWebhook[]): Problem[] {
  if (theirs.length > 0) return []
  const message = `${CONFIGURATIONS.join(' and ')} have no webhook for ${GROUP}`
  return [
    yellow(message, 'is this a Karmada API server? If so, reinstall karmada-webhook: faulty objects are not refused'),
  ]
}

function lenient(theirs: readonly RegisteredWebhook[]): Problem[] {
  return theirs
    .filter(({ webhook }) => webhook.failurePolicy === 'Ignore')
    .map(({ webhook }) =>
      yellow(
        `${webhook.name} has failurePolicy Ignore; Karmada installs it with Fail`,
        'put Karmada’s own configuration back',
      ),
    )
}

/** `failed calling webhook "name": …`, as the API server says it. */
function unansweredIn(dryRun: Facts['dryRun'], webhooks: readonly RegisteredWebhook[]): string | undefined {
  if (!dryRun.known || dryRun.value.status < 500) return undefined
  const [, name] = /failed calling webhook "([^"]+)"/.exec(dryRun.value.message) ?? []
  return webhooks.some((each) => each.webhook.name === name && !isOurs(each)) ? name : undefined
}
