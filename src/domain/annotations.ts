import type { KubernetesObject } from './kubernetes-object.ts'

/** kubectl's copy of what was applied: it changes with labels too, and says nothing that the object does not. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The annotations that can ask something of a balancer. */
export function meaningfulAnnotations(object: KubernetesObject): Record<string, string> {
  const { [LAST_APPLIED]: _, ...rest } = object.metadata.annotations ?? {}
  return rest
}
