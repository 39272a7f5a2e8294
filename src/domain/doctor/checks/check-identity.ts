import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'

const OF_PEOPLE = ['kubernetes-admin', 'kubernetes-super-admin', 'system:admin', 'admin']
const OWN = 'give the function a ServiceAccount of its own, and set `identity` to it'

/** Our own writes are told from those of people by the user's name. */
export function checkIdentity({ writer, operator, settings }: Facts): Examination {
  if (!writer.known) return notKnown(writer.reason, 'run it where the function’s credentials are')
  const { username, groups } = writer.value
  const problems: Problem[] = []
  if (settings.identity === undefined)
    problems.push(
      yellow(
        '`identity` is not set: each of our own writes comes back to us as a review',
        `set \`identity\` to ${username}`,
      ),
    )
  else if (settings.identity !== username)
    problems.push(
      red(
        `\`identity\` is ${settings.identity}, but we write as ${username}: our own writes are taken for other people’s, and theirs for ours`,
        `set \`identity\` to ${username}, and register the webhooks anew`,
      ),
    )
  if (groups.includes('system:masters') || OF_PEOPLE.includes(username))
    problems.push(
      yellow(
        `${username} is an administrator: what people change under this name goes unheard, and no role limits us`,
        OWN,
      ),
    )
  else if (settings.operatorIsApart && !operator.known)
    problems.push(
      yellow(`not known whether people use ${username} too: ${operator.reason}`, 'check the kubeconfig that was given'),
    )
  else if (settings.operatorIsApart && operator.known && operator.value.username === username)
    problems.push(yellow(`${username} is used by people too: what they change goes unheard`, OWN))
  return { summary: `writes as ${username}`, problems }
}
