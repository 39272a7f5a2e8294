import type { Config } from '../config/config.ts'
import type { Kind } from '../domain/kinds.ts'
import type { Provider } from '../provider/provider.ts'
import { controllerStates } from './cloud-controllers.ts'
import { servedCloud } from './served-cloud.ts'

/** Whose keys are reconciled. */
export function servedKinds(config: Config, provider: Provider): Kind[] {
  const cloud = servedCloud(config, provider)
  if (cloud === undefined) {
    const exports = config.propagation.enabled ? (['ServiceExport', 'ClusterPropagationPolicy'] as const) : []
    return ['MultiClusterIngress', 'MultiClusterService', ...exports]
  }
  const { 'service-lb-controller': service, ...ofNodes } = controllerStates(cloud, config)
  const isNodeServed = Object.values(ofNodes).some(({ runs }) => runs)
  return [...(service.runs ? (['Service'] as const) : []), ...(isNodeServed ? (['Node'] as const) : [])]
}
