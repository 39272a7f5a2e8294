import { canonicalJson } from '../../canonical-json.ts'
import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'
import { addressOf, isOurs, type RegisteredWebhook, type Webhook } from '../webhook.ts'

const REGISTER = 'register it anew as `wcp manifests` prints it'

/** Fields where another value lets changes go unheard, or lets users wait for us. */
const GRAVE = ['rules', 'failurePolicy', 'sideEffects']

/** The chain: every webhook that the code registers is there, as the code registers it. */
export function checkWebhooks({ webhooks, expectedWebhooks }: Facts): Examination {
  if (!webhooks.known) {
    return notKnown(webhooks.reason, 'give --kubeconfig of a user who may list webhook configurations')
  }
  const ours = webhooks.value.filter(isOurs)
  const problems = [
    ...expectedWebhooks.flatMap((expected) => compare(expected, ours)),
    ...strangers(ours, expectedWebhooks),
    ...differentTargets(ours),
  ]
  return { summary: `${ours.length} of ${expectedWebhooks.length} webhooks registered`, problems }
}

function compare(expected: RegisteredWebhook, ours: readonly RegisteredWebhook[]): Problem[] {
  const { name } = expected.webhook
  const [found, ...more] = ours.filter((each) => each.kind === expected.kind && each.webhook.name === name)
  if (found === undefined)
    return [red(`${name} is not registered`, `${REGISTER}; until then only sweeps find its changes`)]
  const twice = more.length === 0 ? [] : [yellow(`${name} is registered ${more.length + 1} times`, 'keep one')]
  return [...twice, ...differences(expected.webhook, found.webhook), ...pathFault(expected.webhook, found.webhook)]
}

/** What the API server adds as a default, and what the code says nothing of, is not compared. */
function differences(expected: Webhook, found: Webhook): Problem[] {
  return Object.keys(expected).flatMap((field) => {
    if (field === 'clientConfig' || canonicalJson(expected[field]) === canonicalJson(found[field])) return []
    const message = `${expected.name}: ${field} is not as expected: ${brief(found[field])}`
    return [GRAVE.includes(field) ? red(message, REGISTER) : yellow(message, REGISTER)]
  })
}

/** The host and the prefix are the installation's own, and the prefix may be a secret. */
function pathFault(expected: Webhook, found: Webhook): Problem[] {
  const address = addressOf(found)
  if (address === undefined) return [red(`${found.name}: clientConfig has neither a URL nor a Service`, REGISTER)]
  const path = addressOf(expected)?.path ?? ''
  return address.path === path ? [] : [red(`${found.name}: does not call ${path}`, REGISTER)]
}

function strangers(ours: readonly RegisteredWebhook[], expected: readonly RegisteredWebhook[]): Problem[] {
  const names = new Set(expected.map(({ webhook }) => webhook.name))
  return ours
    .filter(({ webhook }) => !names.has(webhook.name))
    .map(({ configuration, webhook }) =>
      yellow(
        `${webhook.name} in ${configuration} is of no use here`,
        'remove it: it is from another version or setting',
      ),
    )
}

function differentTargets(ours: readonly RegisteredWebhook[]): Problem[] {
  const hosts = new Set(ours.map(({ webhook }) => addressOf(webhook)).map((at) => at && `${at.host}:${at.port}`))
  if (hosts.size <= 1) return []
  return [yellow(`our webhooks call different hosts: ${[...hosts].join(', ')}`, 'let all call the same function')]
}

function brief(value: unknown): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length <= 120 ? text : `${text.slice(0, 119)}…`
}
