import { integer, kindSchema, list, object, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { sharedConditionsSchema } from './condition-schema.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'
import { loadBalancerSchema } from './load-balancer-schema.ts'

const cluster = (): StructuralSchema => object({ 'name!': text('Name of the cluster.') }, 'One cluster.')

const port = object(
  {
    name: text('Name of the port, as the Service has it.'),
    'port!': integer('int32', 'Number of the port, as the Service has it.'),
  },
  'One port to expose.',
)

const spec = object(
  {
    consumerClusters: list(cluster(), 'Clusters in which the Service can be used; all when empty.'),
    ports: list(port, 'Ports to expose; all of the Service when empty.'),
    providerClusters: list(cluster(), 'Clusters whose endpoints are used; all when empty.'),
    range: object(
      { clusterNames: list(text(), 'Names of clusters.') },
      'Deprecated for consumerClusters and providerClusters: where the Service is to be seen.',
    ),
    serviceConsumptionClusters: list(text(), 'Deprecated for consumerClusters.'),
    serviceProvisionClusters: list(text(), 'Deprecated for providerClusters.'),
    'types!': list(text(), 'How the Service is exposed: CrossCluster, LoadBalancer.'),
  },
  'How the Service of the same namespace and name is exposed.',
)

const status = object(
  { conditions: sharedConditionsSchema(), loadBalancer: loadBalancerSchema('service') },
  'What was found and done.',
)

/** networking.karmada.io/v1alpha1 MultiClusterService. */
const multiClusterServiceSchema: StructuralSchema = kindSchema(
  { 'spec!': spec, status },
  'Exposes the Service of the same name out of several clusters, or across them.',
)

export const multiClusterServiceCrd = customResourceDefinition({
  group: 'networking.karmada.io',
  kind: 'MultiClusterService',
  plural: 'multiclusterservices',
  shortNames: ['mcs'],
  categories: ['karmada-io'],
  versions: [{ name: 'v1alpha1', schema: multiClusterServiceSchema, subresources: { status: {} } }],
})
