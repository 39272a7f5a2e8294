import { atomicList, integer, kindSchema, list, object, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'
import { loadBalancerSchema } from './load-balancer-schema.ts'

const backend = (): StructuralSchema =>
  object(
    {
      resource: object(
        {
          apiGroup: text('API group of the resource; the core group when absent.'),
          'kind!': text('Kind of the resource.'),
          'name!': text('Name of the resource.'),
        },
        'A resource of the same namespace that takes the requests. Either this or a service.',
        { 'x-kubernetes-map-type': 'atomic' },
      ),
      service: object(
        {
          'name!': text('Name of a Service in the same namespace.'),
          port: object(
            {
              name: text('The port by name. Either this or a number.'),
              number: integer('int32', 'The port by number. Either this or a name.'),
            },
            'Which port of the Service.',
            { 'x-kubernetes-map-type': 'atomic' },
          ),
        },
        'A Service that takes the requests. Either this or a resource.',
      ),
    },
    'Where requests go.',
  )

const path = (): StructuralSchema =>
  object(
    {
      'backend!': backend(),
      path: text('Path of the request, from a slash on; needed for Exact and Prefix.'),
      'pathType!': text(
        'How the path is compared: Exact (the whole path), Prefix (whole elements from the left) or ' +
          'ImplementationSpecific (as the class decides).',
      ),
    },
    'One path and where it leads.',
  )

const rule = (): StructuralSchema =>
  object(
    {
      host: text(
        'DNS name the request is for. A first label `*` stands for exactly one label. No address, no port; ' +
          'absent means every host.',
      ),
      http: object({ 'paths!': atomicList(path(), 'The paths of this host.') }, 'What happens to HTTP requests.'),
    },
    'What happens to the requests for one host.',
  )

const tls = (): StructuralSchema =>
  object(
    {
      hosts: atomicList(text(), 'Names the certificate is for.'),
      secretName: text('Name of the Secret with certificate and key.'),
    },
    'One certificate and the hosts it serves.',
  )

const spec = object(
  {
    defaultBackend: backend(),
    ingressClassName: text('Name of the IngressClass, and with it who implements this ingress.'),
    rules: atomicList(rule(), 'What happens to requests by host and path. What no rule matches goes to the default.'),
    tls: atomicList(tls(), 'Certificates; all are served on port 443, told apart by SNI.'),
  },
  'The wanted routing.',
)

const location = object(
  {
    clusters: list(text(), 'Clusters in which the Service runs.'),
    'name!': text('Name of a Service this ingress leads to.'),
  },
  'Where one Service runs.',
)

const status = object(
  {
    loadBalancer: loadBalancerSchema('ingress'),
    serviceLocations: list(location, 'Where the Services run that this ingress leads to.'),
    trafficBlockClusters: list(text(), 'Clusters that get no traffic at the moment.'),
  },
  'What was found and done.',
)

/** networking.karmada.io/v1alpha1 MultiClusterIngress. */
const multiClusterIngressSchema: StructuralSchema = kindSchema(
  { spec, status },
  'Leads requests from outside to Services that run in several clusters. The routing is written like an Ingress.',
)

export const multiClusterIngressCrd = customResourceDefinition({
  group: 'networking.karmada.io',
  kind: 'MultiClusterIngress',
  plural: 'multiclusteringresses',
  shortNames: ['mci'],
  categories: ['karmada-io'],
  versions: [{ name: 'v1alpha1', schema: multiClusterIngressSchema, subresources: { status: {} } }],
})
