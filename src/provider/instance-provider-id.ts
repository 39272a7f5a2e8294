import type { CloudContext, CloudProvider } from './cloud.ts'
import { isProviderError, NotImplemented } from './errors.ts'

/** The providerID of an instance, by the name of its node (R-IF-2). */
export async function instanceProviderID(
  cloud: CloudProvider,
  nodeName: string,
  context: CloudContext,
): Promise<string> {
  const instances = cloud.instances()
  if (instances === undefined) throw new NotImplemented('failed to get instances from cloud provider')
  try {
    return `${cloud.providerName()}://${await instances.instanceID(nodeName, context)}`
  } catch (error) {
    if (isProviderError(error) && (error.kind === 'InstanceNotFound' || error.kind === 'NotImplemented')) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`failed to get instance ID from cloud provider: ${reason}`, { cause: error })
  }
}
