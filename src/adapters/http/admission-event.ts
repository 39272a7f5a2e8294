import type { AdmissionRequest } from '../../domain/admission-request.ts'
import type { ClusterEvent } from '../../domain/cluster-event.ts'
import { kindOf } from '../../domain/kinds.ts'
import { requireAddress } from './require-address.ts'

/**
 * What a review announces, or why it announces nothing.
 *
 * | review | because |
 * |---|---|
 * | dry run | nothing will be stored |
 * | subresource, CONNECT | `/status` is written by us and by Karmada, but of Services and Nodes by others too; the rest changes nothing |
 * | no name | a generateName not yet resolved; the validating stage tells it |
 * | unknown kind | a rule of the registration is too wide |
 */
export function admissionEvent(request: AdmissionRequest, receivedAt: number): ClusterEvent | { ignored: string } {
  const { operation, group, kind, namespace, name, username, object, oldObject } = request
  if (request.dryRun) return { ignored: 'dryRun' }
  if (operation === 'CONNECT') return { ignored: 'connect' }
  if (request.subResource !== '' && !tellsOfStatus(request)) return { ignored: 'subresource' }
  if (name === '') return { ignored: 'noName' }
  const known = kindOf(group, kind)
  if (known === undefined) return { ignored: 'unknownKind' }
  requireAddress({ kind: known, namespace, name }, 'request')
  return {
    source: 'admission',
    operation,
    group,
    kind,
    namespace,
    name,
    username,
    receivedAt,
    ...(object && { object }),
    ...(oldObject && { oldObject }),
  }
}

/** Addresses of a Service that somebody cleared; readiness and addresses of a Node. Both need a rule of their own. */
function tellsOfStatus({ subResource, group, kind }: AdmissionRequest): boolean {
  return subResource === 'status' && group === '' && (kind === 'Service' || kind === 'Node')
}
