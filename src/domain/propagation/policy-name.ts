import type { KubernetesObject } from '../kubernetes-object.ts'

/** Karmada ≤ v1.10 refuses longer names (CHANGELOG-1.11, #5029). */
const LONGEST = 63
const PREFIX = 'propagate-service-'
const HASH_LENGTH = 10

/** The Go manager's name of the policy of a Service, however long. */
export function originalPolicyName(service: string): string {
  return `${PREFIX}${service}`
}

/** The same where it fits, else shortened, with a hash of the whole so that two long names stay two. */
export function policyName(service: string, digest: (text: string) => string): string {
  const original = originalPolicyName(service)
  if (original.length <= LONGEST) return original
  const hash = digest(service).slice(0, HASH_LENGTH)
  return `${original.slice(0, LONGEST - HASH_LENGTH - 1)}-${hash}`
}

/** Whose policy this is: its controller's, or, where only its name is known, what follows our prefix. */
export function serviceOfPolicy(policy: KubernetesObject | undefined, name: string): string | undefined {
  if (policy === undefined) return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined
  const owner = policy.metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner?.kind === 'Service' && owner.apiVersion === 'v1' ? owner.name : undefined
}
