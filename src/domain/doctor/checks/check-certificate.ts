import { days, type Examination, notKnown, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'

const RENEW = 'renew it: `wcp certs`, or see why cert-manager did not; the files are read anew every few seconds'

/** Certificates live for hours or for years, so what is left is judged by how long they live. */
const YELLOW_BELOW = 1 / 5
const RED_BELOW = 1 / 20

/** Days left of the serving certificate. */
export function checkCertificate({ certificate, now }: Facts): Examination {
  if (!certificate.known) return notKnown(certificate.reason, 'run it where the function can be reached, or give --url')
  const { hosts, notBefore, notAfter } = certificate.value
  const left = notAfter - now
  if (left <= 0) return { summary: 'expired', problems: [red('the serving certificate has expired', RENEW)] }
  if (now < notBefore)
    return { summary: 'not yet valid', problems: [red('the serving certificate is not valid yet', 'check the clocks')] }
  const summary = `${days(left)} left, for ${hosts.join(', ') || 'no host'}`
  const message = `the serving certificate expires in ${days(left)}`
  const share = left / (notAfter - notBefore)
  if (share < RED_BELOW) return { summary, problems: [red(message, RENEW)] }
  return { summary, problems: share < YELLOW_BELOW ? [yellow(message, RENEW)] : [] }
}
