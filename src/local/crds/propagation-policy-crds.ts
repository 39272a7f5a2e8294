import { flag, integer, kindSchema, list, object, oneOfTexts, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'
import {
  conflictResolutionSchema,
  failoverSchema,
  labelSelectorSchema,
  placementSchema,
  suspensionFields,
} from './placement-schema.ts'

const resourceSelector = object(
  {
    'apiVersion!': text('Group and version of the resources.'),
    'kind!': text('Kind of the resources.'),
    labelSelector: labelSelectorSchema(),
    name: text('One resource by name; all when empty.'),
    namespace: text('Where the resources lie.'),
  },
  'Some resources.',
)

const spec = object(
  {
    activationPreference: oneOfTexts(['Lazy'], 'Lazy: a change of the policy waits for a change of the resource.'),
    association: flag('Deprecated for propagateDeps.'),
    conflictResolution: conflictResolutionSchema(),
    dependentOverrides: list(text(), 'Override policies that must be there first.'),
    failover: failoverSchema(),
    placement: placementSchema(),
    preemption: oneOfTexts(['Always', 'Never'], 'Whether it takes resources from policies of less priority.', {
      default: 'Never',
    }),
    preserveResourcesOnDeletion: flag('Resources stay in the member clusters when they are deleted here.'),
    priority: integer('int32', 'The policy of the highest priority wins.', { default: 0 }),
    propagateDeps: flag('What the resources refer to goes with them.'),
    'resourceSelectors!': list(resourceSelector, 'Which resources the policy is for.', { minItems: 1 }),
    schedulePriority: object(
      {
        'priorityClassName!': text('Name of the priority class.'),
        'priorityClassSource!': oneOfTexts(['KubePriorityClass'], 'Where the class is defined.'),
      },
      'How urgent scheduling is.',
    ),
    schedulerName: text('Who schedules.', { default: 'default-scheduler' }),
    suspension: object(suspensionFields(), 'What is held back.'),
  },
  'Which resources go where.',
)

const COLUMNS = [
  { name: 'CONFLICT-RESOLUTION', type: 'string', jsonPath: '.spec.conflictResolution' },
  { name: 'PRIORITY', type: 'string', jsonPath: '.spec.priority' },
  { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]

/** policy.karmada.io/v1alpha1 PropagationPolicy; ClusterPropagationPolicy has the same fields. */
const propagationPolicySchema: StructuralSchema = kindSchema(
  { 'spec!': spec },
  'Says to which clusters resources of a namespace go.',
)

export const propagationPolicyCrd = customResourceDefinition({
  group: 'policy.karmada.io',
  kind: 'PropagationPolicy',
  plural: 'propagationpolicies',
  shortNames: ['pp'],
  categories: ['karmada-io'],
  versions: [{ name: 'v1alpha1', schema: propagationPolicySchema, subresources: {}, columns: COLUMNS }],
})

export const clusterPropagationPolicyCrd = customResourceDefinition({
  group: 'policy.karmada.io',
  kind: 'ClusterPropagationPolicy',
  plural: 'clusterpropagationpolicies',
  shortNames: ['cpp'],
  categories: ['karmada-io'],
  scope: 'Cluster',
  versions: [
    {
      name: 'v1alpha1',
      schema: kindSchema({ 'spec!': spec }, 'Says to which clusters resources of any namespace, or of none, go.'),
      subresources: {},
      columns: COLUMNS,
    },
  ],
})
