import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { Service } from '../../domain/service.ts'
import { parseBalancerOptions } from '../../domain/service-balancer/parse-balancer-options.ts'
import { isProviderError } from '../../provider/errors.ts'
import { forgetCreate, unknownCreateMs } from '../load-balancer/unknown-create.ts'
import { releaseService } from './claim-service.ts'
import { readRecord } from './gather-service.ts'
import { publishIngress } from './publish-ingress.ts'
import { askCloud, type HeldServicePass } from './service-pass.ts'
import { tell, tellFailure } from './tell-service.ts'

/**
 * get → delete → release the finalizer → tell → clear the status, in upstream's order (R-SVC-8). The question is asked
 * under the lock: whoever held it before may have made a balancer since.
 */
export async function cleanUpService(service: Service, pass: HeldServicePass): Promise<Outcome> {
  const { uid = '', resourceVersion: version = '' } = service.metadata
  // Asked first: what the provider does not find afterwards cannot come any more.
  const mayComeMs = unknownCreateMs(uid, pass)
  if (await exists(service, pass)) {
    await tell(service, [{ ...DELETING, version }], pass)
    await deleteBalancer(service, pass)
  }
  if (mayComeMs > 0) {
    return { kind: 'later', afterMs: mayComeMs, reason: 'a create whose outcome is unknown may still bring a balancer' }
  }
  await forgetCreate(pass)
  const released = await releaseService(service, pass)
  await tell(service, [{ ...DELETED, version }], pass)
  if (released === undefined || isBeingDeleted(released)) return { kind: 'gone' }
  await publishIngress(released, [], pass)
  return { kind: 'settled' }
}

const DELETING = { type: 'Normal', reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' } as const
const DELETED = { type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' } as const

async function exists(service: Service, pass: HeldServicePass): Promise<boolean> {
  try {
    return (await readRecord(service, pass)) !== undefined
  } catch (error) {
    await tellFailure(service, 'failed to check if load balancer exists before cleanup', error, pass)
    throw error
  }
}

/** `RetryAfter` is honoured here too (deviation 10); who serves it elsewhere also deletes it there. */
async function deleteBalancer(service: Service, pass: HeldServicePass): Promise<void> {
  const subject = { uid: service.metadata.uid ?? '', options: parseBalancerOptions(service).options }
  try {
    await askCloud(pass, subject, (cloud, context) =>
      cloud.ensureLoadBalancerDeleted(pass.clusterName, service, context),
    )
  } catch (error) {
    if (isProviderError(error) && error.kind === 'ImplementedElsewhere') return
    await tellFailure(service, 'failed to delete load balancer', error, pass)
    throw error
  }
}
