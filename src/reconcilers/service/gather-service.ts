import type { Service } from '../../domain/service.ts'
import { balancerFaults, balancerRequest } from '../../domain/service-balancer/balancer-request.ts'
import { parseBalancerOptions } from '../../domain/service-balancer/parse-balancer-options.ts'
import { letGoStandingOf, standingOf } from '../../domain/service-balancer/service-standing.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import { isProviderError } from '../../provider/errors.ts'
import type { BalancerRecord } from '../../provider/multicluster.ts'
import { listAll } from '../list-all.ts'
import { askCloud, type ServicePass } from './service-pass.ts'
import type { ServiceSnapshot, WantedBalancer } from './service-snapshot.ts'
import { tellFailure } from './tell-service.ts'

/**
 * All reads of one pass. Undefined when the Service does not exist. A Service that is not to be served costs one read
 * and no question to the cloud (R-SVC-3). `earlier` is what was read before the lock was ours: its record still holds
 * while the Service is the same version, its nodes do not.
 */
export async function gatherService(
  pass: ServicePass,
  reader: ClusterReader,
  earlier?: ServiceSnapshot,
): Promise<ServiceSnapshot | undefined> {
  const service = await reader.get(pass.key, { signal: pass.signal })
  if (service === undefined) return undefined
  const standing = (pass.disowned ? letGoStandingOf : standingOf)(service, pass.loadBalancerClass)
  const wanted = standing.kind === 'serve' ? await gatherWanted(service, pass, reader, earlier) : undefined
  return { service, standing, wanted }
}

async function gatherWanted(
  service: Service,
  pass: ServicePass,
  reader: ClusterReader,
  earlier: ServiceSnapshot | undefined,
): Promise<WantedBalancer> {
  const { signal, abilities, digest } = pass
  const faults = balancerFaults(service, abilities)
  const isSame = earlier?.service.metadata.resourceVersion === service.metadata.resourceVersion
  const [nodes, record] = await Promise.all([
    listAll('Node', reader, { limit: 500, signal }),
    isSame ? earlier?.wanted?.record : faults.length > 0 ? undefined : recordFor(service, pass),
  ])
  const verify = pass.isVerificationDue(service.metadata.uid ?? '')
  return { faults, request: balancerRequest(service, nodes, abilities, digest), record, verify }
}

/** What fails here fails the pass, and its owner is told as if the ensure had failed, of which upstream makes it a part. */
async function recordFor(service: Service, pass: ServicePass): Promise<BalancerRecord | undefined> {
  try {
    return await readRecord(service, pass)
  } catch (error) {
    await tellFailure(service, 'failed to ensure load balancer', error, pass)
    throw error
  }
}

/** Who leaves a Service to another controller has nothing of it (R-IF-4). */
export async function readRecord(service: Service, pass: ServicePass): Promise<BalancerRecord | undefined> {
  const subject = { uid: service.metadata.uid ?? '', options: parseBalancerOptions(service).options }
  try {
    const record = await askCloud(pass, subject, (cloud, context) =>
      cloud.getLoadBalancer(pass.clusterName, service, context),
    )
    // Go's nil came as null.
    return record ?? undefined
  } catch (error) {
    if (isProviderError(error) && error.kind === 'ImplementedElsewhere') return undefined
    throw error
  }
}
