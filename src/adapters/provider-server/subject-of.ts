import type { LogFields } from '../../ports/logger.ts'
import type { Operation, RequestOf } from '../../provider/protocol/operations.ts'

/** What a call is about, as log lines name it. */
export function subjectOf(request: RequestOf<Operation>): LogFields {
  const { context } = request
  if ('identity' in context) {
    const { kind, namespace, name, uid, clusterId } = context.identity
    return { key: `${kind}/${namespace}/${name}`, uid, clusterId }
  }
  const clusterId = 'clusterId' in context ? { clusterId: context.clusterId } : {}
  if ('node' in request) return { key: `Node/${request.node.metadata.name}`, ...clusterId }
  if ('route' in request) return { route: request.route.destinationCIDR, ...clusterId }
  return clusterId
}
