import { days, type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'

const INJECT =
  'write the authority of the serving certificate into the caBundle of our webhooks (cert-manager, or `wcp certs`)'
const SOON_MS = 30 * 86_400_000

/** What the API server trusts is what the function serves with. */
export function checkCaBundle({ bundles, certificate, now }: Facts): Examination {
  if (!bundles.known) return notKnown(bundles.reason, 'give --kubeconfig of a user who may list webhook configurations')
  const problems: Problem[] = []
  for (const [name, bundle] of Object.entries(bundles.value)) {
    if (bundle.state === 'unreadable') problems.push(red(`${name}: caBundle holds no PEM certificate`, INJECT))
    if (bundle.state !== 'readable') continue
    if (bundle.notAfter < now) problems.push(red(`${name}: the authority in caBundle has expired`, INJECT))
    else if (bundle.notAfter - now < SOON_MS)
      problems.push(yellow(`${name}: the authority in caBundle expires in ${days(bundle.notAfter - now)}`, INJECT))
  }
  if (!certificate.known)
    problems.push(
      yellow(
        `not known whether it leads to the serving certificate: ${certificate.reason}`,
        'run it where the function can be reached, or give --url',
      ),
    )
  else if (certificate.value.chainFault !== undefined)
    problems.push(
      red(`the API server will not trust the serving certificate (${certificate.value.chainFault})`, INJECT),
    )
  return { summary: summaryOf(Object.values(bundles.value).map(({ state }) => state)), problems }
}

function summaryOf(states: readonly string[]): string {
  if (states.length === 0) return 'no webhook of ours'
  const without = states.filter((state) => state === 'absent').length
  if (without === 0) return `in all ${states.length} webhooks`
  return `${without} of ${states.length} webhooks without one: the API server's system roots decide`
}
