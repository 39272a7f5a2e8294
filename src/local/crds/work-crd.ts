import { anything, flag, kindSchema, list, object, oneOfTexts, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { conditionsSchema } from './condition-schema.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'

const identifier = object(
  {
    group: text('API group.'),
    'kind!': text('Kind.'),
    'name!': text('Name.'),
    namespace: text('Namespace.'),
    'ordinal!': { type: 'integer', description: 'Place in the list of manifests, from 0.' },
    'resource!': text('Plural name of the resource.'),
    'version!': text('API version.'),
  },
  'Which manifest.',
)

const spec = object(
  {
    preserveResourcesOnDeletion: flag('The manifests stay in the member cluster when this goes.'),
    suspendDispatching: flag('Nothing is sent to the member cluster.'),
    workload: object({ manifests: list(anything('One object.'), 'The objects.') }, 'What is sent.'),
  },
  'What a member cluster is to have.',
)

const status = object(
  {
    conditions: conditionsSchema(),
    manifestStatuses: list(
      object(
        {
          health: oneOfTexts(['Healthy', 'Unhealthy', 'Unknown'], 'How it is there.'),
          'identifier!': identifier,
          status: anything('The status there.'),
        },
        'What became of one manifest.',
      ),
      'What became of the manifests.',
    ),
  },
  'What was found and done.',
)

/** work.karmada.io/v1alpha1 Work. */
const workSchema: StructuralSchema = kindSchema({ 'spec!': spec, status }, 'Objects on their way to a member cluster.')

export const workCrd = customResourceDefinition({
  group: 'work.karmada.io',
  kind: 'Work',
  plural: 'works',
  shortNames: ['wk'],
  categories: ['karmada-io'],
  versions: [
    {
      name: 'v1alpha1',
      schema: workSchema,
      subresources: { status: {} },
      columns: [
        { name: 'WORKLOAD-KIND', type: 'string', jsonPath: '.spec.workload.manifests[*].kind' },
        { name: 'APPLIED', type: 'string', jsonPath: '.status.conditions[?(@.type=="Applied")].status' },
        { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
})
