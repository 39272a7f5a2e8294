import { hasDefaults } from '../schema/default-object.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { createSchemaValidator } from '../schema/validate-schema.ts'
import {
  prepareCustomResourceDefinition,
  prepareNamespace,
  prepareSecret,
  validateEvent,
  validateLease,
  validateWebhookConfiguration,
} from './builtin-rules.ts'
import {
  accessReviewSchema,
  configMapSchema,
  customResourceDefinitionSchema,
  deploymentSchema,
  endpointSliceSchema,
  eventSchema,
  ingressClassSchema,
  leaseSchema,
  namespaceSchema,
  nodeSchema,
  podSchema,
  secretSchema,
  selfReviewSchema,
  serviceSchema,
  webhookConfigurationSchema,
} from './builtin-schemas.ts'
import type { ResourceType } from './resource-type.ts'
import { prepareService, prepareServiceStatus, validateService } from './service-rules.ts'
import { validateCustomResourceDefinition } from './validate-custom-resource-definition.ts'

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const POD_MERGE_KEYS = {
  containers: ['name'],
  initContainers: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  env: ['name'],
  ports: ['containerPort', 'protocol'],
  imagePullSecrets: ['name'],
  hostAliases: ['ip'],
  conditions: ['type'],
}

/** What is served without a CRD. A new resource is one row. */
export function builtinResources(): ResourceType[] {
  return [
    row('v1', 'namespaces', 'Namespace', namespaceSchema(), {
      namespaced: false,
      shortNames: ['ns'],
      status: true,
      nameRule: 'label',
      verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
      returnsDeleted: true,
      prepare: prepareNamespace,
      selectableFields: ['status.phase'],
    }),
    row('v1', 'services', 'Service', serviceSchema(), {
      shortNames: ['svc'],
      categories: ['all'],
      status: true,
      nameRule: 'label',
      returnsDeleted: true,
      mergeKeys: { ports: ['port', 'protocol'], conditions: ['type'] },
      selectableFields: ['spec.type', 'spec.clusterIP'],
      prepare: prepareService,
      prepareStatus: prepareServiceStatus,
      validate: validateService,
    }),
    row('v1', 'events', 'Event', eventSchema(), {
      shortNames: ['ev'],
      validate: validateEvent,
      selectableFields: [
        'type',
        'reason',
        'source',
        'reportingComponent',
        ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
          (field) => `involvedObject.${field}`,
        ),
      ],
    }),
    row('v1', 'secrets', 'Secret', secretSchema(), { selectableFields: ['type'], prepare: prepareSecret }),
    row('v1', 'configmaps', 'ConfigMap', configMapSchema(), { shortNames: ['cm'] }),
    row('v1', 'pods', 'Pod', podSchema(), {
      shortNames: ['po'],
      categories: ['all'],
      status: true,
      returnsDeleted: true,
      mergeKeys: POD_MERGE_KEYS,
      selectableFields: ['spec.nodeName', 'status.phase', 'status.podIP'],
    }),
    row('v1', 'nodes', 'Node', nodeSchema(), {
      namespaced: false,
      shortNames: ['no'],
      status: true,
      mergeKeys: { conditions: ['type'], addresses: ['type'] },
      statusOnCreate: true,
      selectableFields: ['spec.unschedulable'],
    }),
    row('apps/v1', 'deployments', 'Deployment', deploymentSchema(), {
      shortNames: ['deploy'],
      categories: ['all'],
      status: true,
      generation: true,
      mergeKeys: POD_MERGE_KEYS,
    }),
    row('networking.k8s.io/v1', 'ingressclasses', 'IngressClass', ingressClassSchema(), {
      namespaced: false,
      generation: true,
    }),
    row('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice', endpointSliceSchema(), { generation: true }),
    row('coordination.k8s.io/v1', 'leases', 'Lease', leaseSchema(), {
      unconditionalUpdate: false,
      validate: validateLease,
    }),
    row(
      'admissionregistration.k8s.io/v1',
      'mutatingwebhookconfigurations',
      'MutatingWebhookConfiguration',
      webhookConfigurationSchema('mutating'),
      {
        namespaced: false,
        categories: ['api-extensions'],
        generation: true,
        unconditionalUpdate: false,
        mergeKeys: { webhooks: ['name'] },
        validate: validateWebhookConfiguration,
      },
    ),
    row(
      'admissionregistration.k8s.io/v1',
      'validatingwebhookconfigurations',
      'ValidatingWebhookConfiguration',
      webhookConfigurationSchema('validating'),
      {
        namespaced: false,
        categories: ['api-extensions'],
        generation: true,
        unconditionalUpdate: false,
        mergeKeys: { webhooks: ['name'] },
        validate: validateWebhookConfiguration,
      },
    ),
    row(
      'apiextensions.k8s.io/v1',
      'customresourcedefinitions',
      'CustomResourceDefinition',
      customResourceDefinitionSchema(),
      {
        namespaced: false,
        shortNames: ['crd', 'crds'],
        categories: ['api-extensions'],
        status: true,
        generation: true,
        unconditionalUpdate: false,
        prepare: prepareCustomResourceDefinition,
        validate: validateCustomResourceDefinition,
      },
    ),
    row('authorization.k8s.io/v1', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', accessReviewSchema(), {
      namespaced: false,
      verbs: ['create'],
      answer: (review) => ({ ...review, status: { allowed: true } }),
    }),
    row('authentication.k8s.io/v1', 'selfsubjectreviews', 'SelfSubjectReview', selfReviewSchema(), {
      namespaced: false,
      verbs: ['create'],
      answer: (review, { username, groups }) => ({
        ...review,
        status: { userInfo: { username, groups: groups ?? [] } },
      }),
    }),
  ]
}

type RowOptions = Partial<Omit<ResourceType, 'group' | 'plural' | 'kind' | 'versions'>> & { status?: boolean }

function row(
  apiVersion: string,
  plural: string,
  kind: string,
  schema: StructuralSchema,
  { status = false, ...options }: RowOptions,
): ResourceType {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return {
    group: group ?? '',
    plural,
    kind,
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    versions: [
      {
        name: version ?? 'v1',
        served: true,
        storage: true,
        hasStatus: status,
        schema,
        validator: createSchemaValidator(schema),
        hasDefaults: hasDefaults(schema),
        columns: [],
      },
    ],
    verbs: ALL_VERBS,
    nameRule: 'subdomain',
    custom: false,
    generation: false,
    unconditionalUpdate: true,
    returnsDeleted: false,
    statusOnCreate: false,
    mergeKeys: {},
    selectableFields: [],
    ...options,
  }
}
