import type { KubernetesObject } from '../domain/kubernetes-object.ts'

/** One text for one state. Every write gives an object another resourceVersion; the uid tells it from an earlier one of its name. */
export function versionOf(read: KubernetesObject | readonly KubernetesObject[] | undefined): string {
  if (read === undefined) return ''
  return 'metadata' in read ? versionOfObject(read) : read.map(versionOfObject).join()
}

function versionOfObject({ metadata: { uid = '', resourceVersion = '' } }: KubernetesObject): string {
  return `${uid}@${resourceVersion}`
}
