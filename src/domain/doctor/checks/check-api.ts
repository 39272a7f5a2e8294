import { type Kind, RESOURCES } from '../../kinds.ts'
import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'
import { requiredAccess } from '../required-access.ts'

/** Since 1.28 without a feature gate; before, conditions are dropped and every write is a review. */
const CONDITIONS_SINCE = 28

/** The API server serves every kind that we read or write, in the version that we speak. */
export function checkApi({ served, serverVersion, settings }: Facts): Examination {
  if (!served.known) return notKnown(served.reason, 'check the kubeconfig and the network')
  const missing = requiredKinds(settings.controlPlane).filter((kind) => !isServed(kind, served.value))
  const problems: Problem[] = missing.map((kind) => {
    const { group, version, plural } = RESOURCES[kind]
    return red(
      `${plural}.${group}/${version} is not served`,
      'install its CustomResourceDefinition, or the version of Karmada that brings it',
    )
  })
  return {
    summary: `API server ${serverVersion.known ? serverVersion.value : 'of unknown version'}`,
    problems: [...problems, ...versionFault(serverVersion)],
  }
}

/** Status is a subresource of the kind, written by a path of its own. */
function isServed(kind: Kind, served: Record<string, string[]>): boolean {
  const { group, version, plural } = RESOURCES[kind]
  return served[`${group}/${version}`]?.includes(plural) ?? false
}

export function requiredKinds(controlPlane: 'karmada' | 'kubernetes'): Kind[] {
  const names = new Set(
    requiredAccess({ controlPlane, lock: 'none', leaseNamespace: '' }).map(
      ({ group, resource }) => `${group}/${resource}`,
    ),
  )
  return (Object.keys(RESOURCES) as Kind[]).filter((kind) =>
    names.has(`${RESOURCES[kind].group}/${RESOURCES[kind].plural}`),
  )
}

function versionFault(serverVersion: Facts['serverVersion']): Problem[] {
  if (!serverVersion.known) return [yellow(`version not known: ${serverVersion.reason}`, 'check the network')]
  const [, minor] = /^v?1\.(\d+)/.exec(serverVersion.value) ?? []
  if (minor === undefined || Number(minor) >= CONDITIONS_SINCE) return []
  const message = `${serverVersion.value} knows no matchConditions: every write of the kinds in our rules is a review`
  return [yellow(message, `use 1.${CONDITIONS_SINCE} or newer`)]
}
