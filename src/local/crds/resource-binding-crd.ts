import {
  anything,
  atomicList,
  flag,
  integer,
  kindSchema,
  list,
  mapOf,
  object,
  oneOfTexts,
  text,
  timestamp,
} from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { conditionsSchema } from './condition-schema.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'
import {
  conflictResolutionSchema,
  failoverSchema,
  placementSchema,
  suspensionFields,
  tolerationSchema,
} from './placement-schema.ts'

const QUANTITY_PATTERN =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'

const quantity = (): StructuralSchema => ({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern: QUANTITY_PATTERN,
  'x-kubernetes-int-or-string': true,
})

const replicas = () => integer('int32', 'How many.')

const expressions = () =>
  atomicList(
    object(
      {
        'key!': text('What is looked at.'),
        'operator!': text('How it is compared.'),
        values: atomicList(text(), 'What it is compared with.'),
      },
      'One condition on nodes.',
    ),
    'Conditions, all of which must hold.',
  )

const ATOMIC = { 'x-kubernetes-map-type': 'atomic' } as const

function requirementFields(): { [name: string]: StructuralSchema } {
  const term = object({ matchExpressions: expressions(), matchFields: expressions() }, 'One way to match.', ATOMIC)
  const nodeClaim = object(
    {
      hardNodeAffinity: object(
        { 'nodeSelectorTerms!': atomicList(term, 'One of them must match.') },
        'Which nodes.',
        ATOMIC,
      ),
      nodeSelector: mapOf(text(), 'Labels the node must have.'),
      tolerations: list(tolerationSchema(), 'Taints of nodes that do not matter.'),
    },
    'What is asked of a node.',
  )
  return {
    nodeClaim,
    priorityClassName: text('Priority class of the pods.'),
    resourceRequest: mapOf(quantity(), 'What one replica needs.'),
  }
}

function targetClusters(description: string): StructuralSchema {
  const component = object({ 'name!': text('Which component.'), 'replicas!': replicas() }, 'Replicas of a component.')
  return list(
    object(
      {
        components: list(component, 'Replicas by component.'),
        'name!': text('Name of the cluster.'),
        replicas: replicas(),
      },
      'One cluster.',
    ),
    description,
  )
}

const evictionTask = object(
  {
    clustersBeforeFailover: list(text(), 'Where it ran before.'),
    creationTimestamp: timestamp('When the task was made.'),
    'fromCluster!': text('The cluster to leave.'),
    gracePeriodSeconds: integer('int32', 'How long it may take.'),
    message: text('Why, for people.', { maxLength: 1024 }),
    preservedLabelState: mapOf(text(), 'What the successor is told.'),
    'producer!': text('Who asked for it.'),
    purgeMode: oneOfTexts(['Directly', 'Gracefully', 'Never'], 'How the old one is removed.'),
    'reason!': text('Why, in one word.', {
      maxLength: 32,
      minLength: 1,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    replicas: integer('int32', 'How many have to leave.'),
    suppressDeletion: flag('The old one stays until somebody decides.'),
  },
  'Leaving one cluster gracefully.',
)

const spec = object(
  {
    clusters: targetClusters('Where the resource goes.'),
    components: list(
      object(
        {
          'name!': text('Name of the component.', { maxLength: 32 }),
          replicaRequirements: object(requirementFields(), 'What one replica of it needs.'),
          'replicas!': replicas(),
        },
        'One component.',
      ),
      'Components of a resource that has several.',
    ),
    conflictResolution: conflictResolutionSchema(),
    failover: failoverSchema(),
    gracefulEvictionTasks: list(evictionTask, 'Clusters that are being left.'),
    placement: placementSchema(),
    preserveResourcesOnDeletion: flag('The resource stays in the member clusters when it is deleted here.'),
    propagateDeps: flag('What the resource refers to goes with it.'),
    replicaRequirements: object(
      { namespace: text('Whose quota counts.'), ...requirementFields() },
      'What one replica needs.',
    ),
    replicas: replicas(),
    requiredBy: list(
      object(
        {
          clusters: targetClusters('Where the other one goes.'),
          'name!': text('Name of the other binding.'),
          namespace: text('Namespace of the other binding.'),
        },
        'A binding that needs this resource.',
      ),
      'Bindings that need this resource.',
    ),
    rescheduleTriggeredAt: timestamp('When scheduling was asked for once more.'),
    'resource!': object(
      {
        'apiVersion!': text('Group and version of the resource.'),
        'kind!': text('Kind of the resource.'),
        'name!': text('Name of the resource.'),
        namespace: text('Namespace of the resource.'),
        resourceVersion: text('Its version when the binding was written.'),
        uid: text('Its uid.'),
      },
      'The resource.',
    ),
    schedulePriority: object(
      { priority: integer('int32', 'More is more urgent.', { default: 0 }) },
      'How urgent it is.',
    ),
    schedulerName: text('Who schedules.'),
    suspension: object({ ...suspensionFields(), scheduling: flag('It is not scheduled.') }, 'What is held back.'),
    workloadAffinityGroups: object(
      { affinityGroup: text('Group it belongs to.'), antiAffinityGroup: text('Group it stays away from.') },
      'Which workloads it goes with.',
    ),
  },
  'One resource and where it goes.',
)

function aggregatedStatus(extra: { [name: string]: StructuralSchema }): StructuralSchema {
  return list(
    object(
      {
        applied: flag('Whether the cluster has it.'),
        appliedMessage: text('What went wrong.'),
        'clusterName!': text('Name of the cluster.'),
        ...extra,
        status: anything('The status there.'),
      },
      'What one cluster reports.',
    ),
    'What the clusters report.',
  )
}

const status = object(
  {
    aggregatedStatus: aggregatedStatus({
      health: oneOfTexts(['Healthy', 'Unhealthy', 'Unknown'], 'How it is there.'),
    }),
    conditions: conditionsSchema(),
    lastScheduledTime: timestamp('When it was scheduled last.'),
    schedulerObservedGeneration: integer('int64', 'The generation that was scheduled last.'),
    schedulerObservingAffinityName: text('The group of clusters that was chosen.'),
  },
  'What was found and done.',
)

/** work.karmada.io/v1alpha2 ResourceBinding. */
const resourceBindingSchema: StructuralSchema = kindSchema(
  { 'spec!': spec, status },
  'Binds one resource to the clusters it goes to.',
)

const firstSpec = object(
  {
    clusters: list(
      object({ 'name!': text('Name of the cluster.'), replicas: replicas() }, 'One cluster.'),
      'Where it goes.',
    ),
    'resource!': object(
      {
        'apiVersion!': text('Group and version of the resource.'),
        'kind!': text('Kind of the resource.'),
        'name!': text('Name of the resource.'),
        namespace: text('Namespace of the resource.'),
        replicas: replicas(),
        resourcePerReplicas: mapOf(quantity(), 'What one replica needs.'),
        resourceVersion: text('Its version when the binding was written.'),
      },
      'The resource.',
    ),
  },
  'One resource and where it goes.',
)

const firstStatus = object(
  { aggregatedStatus: aggregatedStatus({}), conditions: conditionsSchema() },
  'What was found and done.',
)

const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`

export const resourceBindingCrd = customResourceDefinition({
  group: 'work.karmada.io',
  kind: 'ResourceBinding',
  plural: 'resourcebindings',
  shortNames: ['rb'],
  categories: ['karmada-io'],
  versions: [
    {
      name: 'v1alpha1',
      storage: false,
      schema: kindSchema({ 'spec!': firstSpec, status: firstStatus }, 'The first version of a binding.'),
      subresources: { status: {} },
    },
    {
      name: 'v1alpha2',
      schema: resourceBindingSchema,
      subresources: { status: {} },
      columns: [
        { name: 'SCHEDULED', type: 'string', jsonPath: condition('Scheduled') },
        { name: 'FULLYAPPLIED', type: 'string', jsonPath: condition('FullyApplied') },
        { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
})
