import { type Examination, notKnown, red } from '../examination.ts'
import type { Facts } from '../facts.ts'

/** What the provider can do, and whether that is anything under this configuration. */
export function checkProvider({ provider }: Facts): Examination {
  if (!provider.known) return notKnown(provider.reason, 'run the doctor of the program that has this provider')
  const { name, can, faults } = provider.value
  const problems = faults.map((fault) => red(`${name}: ${fault}`, 'choose another provider, or another controlPlane'))
  return { summary: `${name}: ${can.join(', ') || 'nothing'}`, problems }
}
