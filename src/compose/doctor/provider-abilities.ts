import type { Config } from '../../config/config.ts'
import type { ProviderAbilities } from '../../domain/doctor/facts.ts'
import type { Provider } from '../../provider/provider.ts'
import { cloudChecks, controllerStates } from '../cloud-controllers.ts'
import { servedCloud } from '../served-cloud.ts'

export function providerAbilities(config: Config, provider: Provider): ProviderAbilities {
  const cloud = servedCloud(config, provider)
  const { name } = provider
  if (cloud === undefined) {
    const can = abilitiesOverClusters(provider)
    return { name, can, faults: can.length === 0 ? ['it balances nothing over clusters'] : [] }
  }
  const can = Object.entries(controllerStates(cloud, config)).flatMap(([controller, { runs }]) =>
    runs ? [controller] : [],
  )
  const faults = cloudChecks(cloud, config)
    .filter(({ ok }) => !ok)
    .map(({ message }) => message)
  return { name, can, faults: can.length === 0 && faults.length === 0 ? ['no controller runs with it'] : faults }
}

function abilitiesOverClusters({ loadBalancer, mcsLoadBalancer }: Provider): string[] {
  return [
    loadBalancer && 'MultiClusterIngress',
    mcsLoadBalancer && 'MultiClusterService',
    (loadBalancer?.listLoadBalancers ?? mcsLoadBalancer?.listMCSLoadBalancers) && 'finds orphans',
    (loadBalancer?.validate ?? mcsLoadBalancer?.validate) && 'validates',
  ].filter((ability) => typeof ability === 'string')
}
