import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'

/** What the provider can do, whether that is anything under this configuration, and whether it can be asked. */
export function checkProvider({ provider, providerAnswer, settings }: Facts): Examination {
  if (!provider.known) return notKnown(provider.reason, 'run the doctor of the program that has this provider')
  const { name, can, faults } = provider.value
  const problems = faults.map((fault) => red(`${name}: ${fault}`, 'choose another provider, or another controlPlane'))
  const answer = providerAnswer?.known === true ? `; answers in ${Math.round(providerAnswer.value.ms)} ms` : ''
  return {
    summary: `${name}: ${can.join(', ') || 'nothing'}${answer}`,
    problems: [...problems, ...unanswered(name, providerAnswer, settings)],
  }
}

/** Where the operator is apart from the function, the way from here may be another than the function's. */
function unanswered(name: string, answer: Facts['providerAnswer'], settings: Facts['settings']): Problem[] {
  if (answer === undefined || answer.known) return []
  const message = `${name} does not answer from here: ${answer.reason}`
  const remedy =
    'see that what it programs runs and is reached: the admin endpoint, or the agent and the proxy beside it (their logs). ' +
    'What serves goes on; changes wait'
  if (settings.operatorIsApart) return [yellow(message, `${remedy}. Where only the function reaches it, ask there`)]
  return [red(message, remedy)]
}
