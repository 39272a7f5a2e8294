import { DOORS } from '../door-note.ts'
import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { DryRun, Facts } from '../facts.ts'
import { doorsHeard } from './doors-heard.ts'

/** A real request through the API server, in a dry run: nothing is stored, nothing queued, and all doors are asked. */
export function checkDryRun(facts: Facts): Examination {
  const { dryRun } = facts
  if (!dryRun.known) return notKnown(dryRun.reason, 'give --kubeconfig of a user who may create the object')
  const { status, message } = dryRun.value
  if (status === 403 && /\bcannot create resource\b/.test(message)) {
    return notKnown(message, 'give --kubeconfig of a user who may create the object, or --namespace where they may')
  }
  if (status !== 201) {
    const remedy = 'see what refuses it: no user can create such an object now'
    return {
      summary: 'refused',
      problems: [red(`the API server refused a good object (${status}): ${message}`, remedy)],
    }
  }
  const heard = doorsHeard(facts)
  const problems = DOORS.filter((door) => !heard.includes(door)).map((door) => unheard(facts, door))
  return {
    summary: `answered through the API server: ${heard.join(', ') || 'no door'}`,
    problems: [...problems, ...(heard.includes('mutate') ? unpatched(facts, dryRun.value) : [])],
  }
}

function unheard({ settings, operator }: Facts, door: string): Problem {
  if (door === 'mutate' && operator.known && operator.value.username === settings.identity) {
    return yellow(
      'not known whether the mutate door answers: of our own writes it is not asked',
      'give --kubeconfig of another user',
    )
  }
  const remedy =
    'see webhooks, ca-bundle and url above; failurePolicy Ignore lets writes pass without us, and sweeps find them later'
  return red(`the ${door} door did not answer the API server`, remedy)
}

function unpatched({ settings }: Facts, { finalizers }: DryRun): Problem[] {
  const { finalizer } = settings
  if (finalizer === undefined || finalizers.includes(finalizer)) return []
  const remedy = 'the function that answers has another configuration: compare ingressClass, finalizer and provider'
  return [red(`the mutate door did not add ${finalizer} to an object that is ours`, remedy)]
}
