import { atomicList, flag, integer, list, mapOf, object, oneOfTexts, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'

// Parts that policies, bindings and works share.

export function labelSelectorSchema(description = 'Selects by labels; empty selects everything.'): StructuralSchema {
  return object(
    {
      matchExpressions: atomicList(requirement(), 'Conditions on labels, all of which must hold.'),
      matchLabels: mapOf(text(), 'Labels with the values they must have.'),
    },
    description,
    { 'x-kubernetes-map-type': 'atomic' },
  )
}

function requirement(): StructuralSchema {
  return object(
    {
      'key!': text('What is looked at.'),
      'operator!': text('How it is compared: In, NotIn, Exists, DoesNotExist and, for nodes, Gt and Lt.'),
      values: atomicList(text(), 'What it is compared with.'),
    },
    'One condition.',
  )
}

export function clusterNamesSchema(description: string): StructuralSchema {
  return object({ clusterNames: list(text(), 'Names of clusters.') }, description)
}

function affinityFields(): { [name: string]: StructuralSchema } {
  return {
    clusterNames: list(text(), 'Clusters by name.'),
    exclude: list(text(), 'Clusters that are left out.'),
    fieldSelector: object(
      { matchExpressions: list(requirement(), 'Conditions on provider, region or zone.') },
      'Clusters by what they are.',
    ),
    labelSelector: labelSelectorSchema('Clusters by their labels.'),
  }
}

const affinityName = () => text('Name of this group of clusters.', { maxLength: 32, minLength: 1 })

export function placementSchema(): StructuralSchema {
  const named = object(
    {
      'affinityName!': affinityName(),
      ...affinityFields(),
      overflowAffinities: list(
        object({ 'affinityName!': affinityName(), ...affinityFields() }, 'One group to overflow into.'),
        'Groups that take what does not fit into this one.',
      ),
    },
    'One group of clusters.',
  )
  const spread = object(
    {
      maxGroups: { type: 'integer', description: 'At most that many groups.' },
      minGroups: { type: 'integer', description: 'At least that many groups.' },
      spreadByField: oneOfTexts(['cluster', 'region', 'zone', 'provider'], 'What makes a group.'),
      spreadByLabel: text('A label whose values make the groups.'),
    },
    'How clusters are spread over groups.',
  )
  const weight = object(
    {
      'targetCluster!': object(affinityFields(), 'Which clusters.'),
      'weight!': integer('int64', 'Their share.', { minimum: 1 }),
    },
    'The share of some clusters.',
  )
  const scheduling = object(
    {
      replicaDivisionPreference: oneOfTexts(['Aggregated', 'Weighted'], 'Few clusters, or by weight.'),
      replicaSchedulingType: oneOfTexts(['Duplicated', 'Divided'], 'All replicas in each cluster, or divided.', {
        default: 'Divided',
      }),
      weightPreference: object(
        {
          dynamicWeight: oneOfTexts(['AvailableReplicas'], 'Weights that follow what clusters have left.'),
          staticWeightList: list(weight, 'Weights by cluster.'),
        },
        'How replicas are weighed.',
      ),
    },
    'How replicas are divided over clusters.',
  )
  const group = (description: string) =>
    object({ 'groupByLabelKey!': text('The label whose value names the group.') }, description)
  return object(
    {
      clusterAffinities: list(named, 'Groups of clusters, tried in their order.'),
      clusterAffinity: object(affinityFields(), 'Which clusters may be chosen.'),
      clusterTolerations: list(tolerationSchema(), 'Taints of clusters that do not matter.'),
      replicaScheduling: scheduling,
      spreadConstraints: list(spread, 'How the choice is spread.'),
      workloadAffinity: object(
        { affinity: group('Workloads that belong together.'), antiAffinity: group('Workloads that stay apart.') },
        'Which workloads share clusters.',
      ),
    },
    'Where resources go.',
  )
}

export function tolerationSchema(): StructuralSchema {
  return object(
    {
      effect: text('The effect that is tolerated; all when empty.'),
      key: text('The key of the taint; all when empty.'),
      operator: text('Exists or Equal.'),
      tolerationSeconds: integer('int64', 'For how long; always when absent.'),
      value: text('The value of the taint.'),
    },
    'One kind of taint that is tolerated.',
  )
}

export function conflictResolutionSchema(): StructuralSchema {
  const description = 'What happens when the resource exists in the member cluster already.'
  return oneOfTexts(['Abort', 'Overwrite'], description, { default: 'Abort' })
}

export function failoverSchema(): StructuralSchema {
  const statePreservation = () =>
    object(
      {
        'rules!': list(
          object(
            {
              'aliasLabelName!': text('Label under which the value is handed on.'),
              'jsonPath!': text('Where the value stands in the status.'),
            },
            'One value that is kept.',
          ),
          'Values that are kept.',
        ),
      },
      'What the successor is told of the state before.',
    )
  const purge = (values: string[]) => oneOfTexts(values, 'How the old one is removed.', { default: 'Gracefully' })
  const application = object(
    {
      'decisionConditions!': object(
        { tolerationSeconds: integer('int32', 'How long it may be unhealthy.', { default: 300 }) },
        'When to move.',
      ),
      gracePeriodSeconds: integer('int32', 'How long the old one may stay.'),
      purgeMode: purge(['Directly', 'Gracefully', 'Never']),
      statePreservation: statePreservation(),
    },
    'When the application is unhealthy.',
  )
  const cluster = object(
    { purgeMode: purge(['Directly', 'Gracefully']), statePreservation: statePreservation() },
    'When the cluster is unhealthy.',
  )
  return object({ application, cluster }, 'Moving away from where things fail.')
}

export function suspensionFields(): { [name: string]: StructuralSchema } {
  return {
    dispatching: flag('Nothing is sent to any cluster.'),
    dispatchingOnClusters: clusterNamesSchema('Nothing is sent to these clusters.'),
  }
}
