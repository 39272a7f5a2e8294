import {
  atomicList,
  integer,
  keyedList,
  kindSchema,
  list,
  object,
  oneOfTexts,
  text,
} from '../schema/schema-builders.ts'
import { sharedConditionsSchema } from './condition-schema.ts'
import { AGE_COLUMN, customResourceDefinition } from './custom-resource-definition.ts'

/** multicluster.x-k8s.io/v1alpha1 ServiceExport: it has no spec. */
const serviceExportSchema = kindSchema(
  { status: object({ conditions: sharedConditionsSchema() }, 'What was found and done.') },
  'Makes the Service of the same name known to other clusters.',
)

export const serviceExportCrd = customResourceDefinition({
  group: 'multicluster.x-k8s.io',
  kind: 'ServiceExport',
  plural: 'serviceexports',
  shortNames: ['svcex'],
  versions: [{ name: 'v1alpha1', schema: serviceExportSchema, subresources: { status: {} }, columns: [AGE_COLUMN] }],
})

const port = object(
  {
    appProtocol: text('What is spoken on the port.'),
    name: text('Name of the port.'),
    'port!': integer('int32', 'Number of the port.'),
    protocol: text('TCP, UDP or SCTP.'),
  },
  'One port.',
)

const spec = object(
  {
    ips: list(text(), 'Addresses of the imported Service.', { maxItems: 1 }),
    'ports!': atomicList(port, 'Ports of the imported Service.'),
    sessionAffinity: text('ClientIP or None.'),
    sessionAffinityConfig: object(
      { clientIP: object({ timeoutSeconds: integer('int32', 'How long it lasts.') }, 'By the address of the client.') },
      'How long a client stays with an endpoint.',
    ),
    'type!': oneOfTexts(['ClusterSetIP', 'Headless'], 'Whether there is one address for all endpoints.'),
  },
  'The Service as it is seen here.',
)

const status = object(
  {
    clusters: keyedList(
      ['cluster'],
      object({ 'cluster!': text('Name of the cluster.') }, 'One cluster.'),
      'Where the Service comes from.',
    ),
  },
  'What was found and done.',
)

/** multicluster.x-k8s.io/v1alpha1 ServiceImport. */
const serviceImportSchema = kindSchema({ spec, status }, 'A Service of other clusters.')

export const serviceImportCrd = customResourceDefinition({
  group: 'multicluster.x-k8s.io',
  kind: 'ServiceImport',
  plural: 'serviceimports',
  shortNames: ['svcim'],
  versions: [
    {
      name: 'v1alpha1',
      schema: serviceImportSchema,
      subresources: { status: {} },
      columns: [
        { name: 'Type', type: 'string', jsonPath: '.spec.type', description: 'Whether there is one address.' },
        { name: 'IP', type: 'string', jsonPath: '.spec.ips', description: 'The address, if there is one.' },
        AGE_COLUMN,
      ],
    },
  ],
})
