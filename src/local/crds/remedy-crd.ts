import { kindSchema, list, object, oneOfTexts, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'
import { clusterNamesSchema } from './placement-schema.ts'

const match = object(
  {
    clusterConditionMatch: object(
      {
        'conditionStatus!': text('The status it is compared with.'),
        'conditionType!': text('Which condition of the cluster.'),
        'operator!': oneOfTexts(['Equal', 'NotEqual'], 'How it is compared.'),
      },
      'A condition of the cluster.',
    ),
  },
  'One reason to act.',
)

const spec = object(
  {
    actions: list(text(), 'What to do, such as TrafficControl.'),
    clusterAffinity: clusterNamesSchema('For which clusters; all when absent.'),
    decisionMatches: list(match, 'When to act; always when empty.'),
  },
  'What is done for which clusters.',
)

/** remedy.karmada.io/v1alpha1 Remedy. */
const remedySchema: StructuralSchema = kindSchema({ 'spec!': spec }, 'What to do when a cluster is not well.')

export const remedyCrd = customResourceDefinition({
  group: 'remedy.karmada.io',
  kind: 'Remedy',
  plural: 'remedies',
  categories: ['karmada-io'],
  scope: 'Cluster',
  versions: [{ name: 'v1alpha1', schema: remedySchema }],
})
