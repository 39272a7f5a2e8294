import { type Examination, notKnown, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'
import { doorsHeard } from './doors-heard.ts'

/** The function answers here and is ready. Whether it answers the API server is the dry run's to say. */
export function checkReachability(facts: Facts): Examination {
  const { address, readiness } = facts
  if (!address.known) return notKnown(address.reason, 'give --url of the function')
  if (readiness.known) {
    const { ready, failing } = readiness.value
    if (ready) return { summary: 'the function is ready', problems: [] }
    const message = `the function is not ready: ${failing.join('; ') || 'no reason given'}`
    return { summary: 'reached', problems: [red(message, 'see its log; what is not ready is given no requests')] }
  }
  const message = `the function cannot be reached from here: ${readiness.reason}`
  const problem =
    doorsHeard(facts).length > 0
      ? yellow(message, 'the API server reaches it; give --url and --ca, or run the doctor nearer to it')
      : red(message, 'start the function; check --url, --ca, firewalls and network policies')
  return { summary: 'not reached', problems: [problem] }
}
