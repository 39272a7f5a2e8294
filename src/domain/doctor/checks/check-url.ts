import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'
import { doorsHeard } from './doors-heard.ts'

/** The host that the API server calls: its name leads somewhere, and the certificate is for it. */
export function checkUrl(facts: Facts): Examination {
  const { address, addresses, certificate } = facts
  if (!address.known) return notKnown(address.reason, 'give --url of the function')
  const { host, port } = address.value
  const problems: Problem[] = []
  if (!addresses.known) {
    // The API server may have names that we have not.
    const heard = doorsHeard(facts).length > 0
    const message = `${host} is not found from here (${addresses.reason})`
    problems.push(
      heard
        ? yellow(
            `${message}, but the API server finds it`,
            'run the doctor where the API server runs to have it checked',
          )
        : red(message, 'correct the host in clientConfig, or the DNS record'),
    )
  }
  if (!certificate.known)
    problems.push(
      yellow(
        `not known whether the certificate is for ${host}: ${certificate.reason}`,
        'give --url of the function as seen from here',
      ),
    )
  else if (certificate.value.nameFault !== undefined)
    problems.push(
      red(`the certificate is not for ${host}: ${certificate.value.nameFault}`, `issue one with the name ${host}`),
    )
  return { summary: `${host}:${port}`, problems }
}
