import { type Examination, notKnown, red } from '../examination.ts'
import type { Facts } from '../facts.ts'
import { describeAccess } from '../required-access.ts'

/** The function may do all that it does. */
export function checkRbac({ access }: Facts): Examination {
  if (!access.known)
    return notKnown(access.reason, 'give --kubeconfig of a user who may impersonate the function, and set `identity`')
  const denied = access.value.filter(({ allowed }) => !allowed).map(({ rule }) => describeAccess(rule))
  const summary = `${access.value.length - denied.length} of ${access.value.length} calls allowed`
  if (denied.length === 0) return { summary, problems: [] }
  return {
    summary,
    problems: [
      red(`RBAC refuses: ${denied.join(', ')}`, 'apply the role of manifests/ and bind it to the function’s user'),
    ],
  }
}
