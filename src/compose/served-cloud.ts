import type { Config } from '../config/config.ts'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { CloudProvider } from '../provider/cloud.ts'
import type { Provider } from '../provider/provider.ts'

/** The cloud that is served; undefined on a Karmada control plane, whose Services are templates for other clusters. */
export function servedCloud({ controlPlane }: Config, provider: Provider): CloudProvider | undefined {
  const { cloudProvider, loadBalancer, mcsLoadBalancer } = provider
  const isForClusters = loadBalancer !== undefined || mcsLoadBalancer !== undefined || cloudProvider === undefined
  const served = controlPlane ?? (isForClusters ? 'karmada' : 'kubernetes')
  if (served === 'karmada') return undefined
  if (cloudProvider !== undefined) return cloudProvider
  const message = `controlPlane: provider "${provider.name}" has no cloud for one cluster; it is for karmada`
  throw new CatalogueError('ConfigurationInvalid', message, { field: 'controlPlane' })
}
