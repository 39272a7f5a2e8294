import { anything, kindSchema } from '../schema/schema-builders.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'

/**
 * cluster.karmada.io/v1alpha1 Cluster. In Karmada an aggregated API serves it; here a CRD stands in for it,
 * whose content is not checked.
 */
export const clusterCrd = customResourceDefinition({
  group: 'cluster.karmada.io',
  kind: 'Cluster',
  plural: 'clusters',
  categories: ['karmada-io'],
  scope: 'Cluster',
  versions: [
    {
      name: 'v1alpha1',
      schema: kindSchema({ spec: anything('How it is reached.'), status: anything('How it is.') }, 'A member cluster.'),
      subresources: { status: {} },
      columns: [
        { name: 'Version', type: 'string', jsonPath: '.status.kubernetesVersion' },
        { name: 'Mode', type: 'string', jsonPath: '.spec.syncMode' },
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
})
