import { isCatalogueError } from '../domain/catalogue-error.ts'
import { OUR_CONFIGURATION, type WebhookConfiguration } from '../domain/webhook-configuration.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import type { ConfiguredLock } from './create-lock.ts'
import type { DrainOptions } from './drain.ts'
import type { Settings } from './load-settings.ts'
import { servedCloud } from './served-cloud.ts'

/** What would take back what is let go of, and what to do about it; nothing where the way is free. */
export async function hindrancesToDrain(
  reader: ClusterReader,
  settings: Settings,
  locking: ConfiguredLock,
  { report, signal }: Pick<DrainOptions, 'report' | 'signal'>,
): Promise<string[]> {
  const { lease } = settings.config
  const hindrances: string[] = []
  if (await isRegistered(reader, settings, { report, signal })) {
    hindrances.push(
      `its webhooks are registered, and would put the finalizer back: kubectl delete mutatingwebhookconfigurations,validatingwebhookconfigurations ${OUR_CONFIGURATION}`,
    )
  }
  const holders = await locking.holders(signal)
  if (holders.length > 0) {
    hindrances.push(
      `a function is at work (${holders.join(', ')} holds Leases in namespace ${lease.namespace}): stop it, for example with kubectl scale --replicas=0, and wait ${lease.durationSeconds + lease.marginSeconds} s if it was killed`,
    )
  }
  return hindrances
}

async function isRegistered(
  reader: ClusterReader,
  settings: Settings,
  { report, signal }: Pick<DrainOptions, 'report' | 'signal'>,
): Promise<boolean> {
  try {
    const key = { kind: 'MutatingWebhookConfiguration', namespace: '', name: OUR_CONFIGURATION } as const
    const found = await reader.get(key, { signal })
    return found !== undefined && claimsForUs(found, settings)
  } catch (error) {
    if (!isCatalogueError(error, 'ApiForbidden')) throw error
    report('webhooks: RBAC does not let us see whether they are registered; make sure that they are not')
    return false
  }
}

/** Another provider of this family on the control plane has its own finalizer in the conditions of its webhook. */
function claimsForUs(configuration: WebhookConfiguration, { config, provider }: Settings): boolean {
  if (servedCloud(config, provider) !== undefined) return true
  return JSON.stringify(configuration.webhooks ?? []).includes(config.finalizer)
}
