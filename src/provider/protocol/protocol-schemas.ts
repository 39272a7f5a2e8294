import { LONGEST_DETAIL, LONGEST_RETRY_MS, PROBLEM_STATUS } from './problem.ts'

/** As much of JSON Schema 2020-12 as is used here. */
export type ProtocolSchema = Readonly<Record<string, unknown>>

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = (maxLength: number, minLength = 0) => ({ type: 'string', minLength, maxLength })
const integer = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum })
const list = (items: object, maxItems: number) => ({ type: 'array', items, maxItems })
const boolean = { type: 'boolean' }
const nothing = { type: 'null' }
const port = integer(1, 65_535)
const name = text(253, 1)

/** Of answers: an unknown field is a misspelt one, and would otherwise be taken for a field that is absent. */
const exactly = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})

/** Of requests: a caller may know more than the provider. */
const atLeast = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

const object = (apiVersion: string, kind: string) =>
  atLeast(
    {
      apiVersion: { const: apiVersion },
      kind: { const: kind },
      metadata: atLeast({ name, namespace: name, uid: name }, ['name']),
      spec: { type: 'object' },
    },
    ['apiVersion', 'kind', 'metadata'],
  )

const orNull = (schema: object) => ({ anyOf: [schema, nothing] })

const karmadaObject = {
  anyOf: [
    object('networking.karmada.io/v1alpha1', 'MultiClusterIngress'),
    object('networking.karmada.io/v1alpha1', 'MultiClusterService'),
  ],
}

const deadlineMs = integer(1, 600_000)
const identityContext = { identity: ref('Identity'), fence: text(100), deadlineMs }
const clusterName = name
const page = { limit: integer(1, 1_000), continue: text(2_000) }
const result = { status: ref('LoadBalancerStatus'), changed: boolean }
const rest = { continue: text(2_000, 1) }

const identity = {
  clusterId: text(63, 1),
  kind: { enum: ['MultiClusterIngress', 'MultiClusterService', 'Service'] },
  namespace: name,
  name,
  uid: name,
}

/**
 * Every schema of the protocol by name: what a server takes, and what a client believes. `openapi-provider.yaml` has the
 * same ones; a test compares the two.
 */
export const PROTOCOL_SCHEMAS: Readonly<Record<string, ProtocolSchema>> = {
  Description: exactly(
    {
      name: text(63, 1),
      serves: ref('Serves'),
      consistencyWindowMs: integer(0, 86_400_000),
      cloud: exactly({ providerName: text(63, 1), hasClusterID: boolean }),
    },
    ['name', 'serves'],
  ),
  Serves: exactly(
    {
      MultiClusterIngress: ref('ServedBalancer'),
      MultiClusterService: ref('ServedBalancer'),
      Service: ref('ServedServiceBalancer'),
      instances: exactly({}),
      routes: exactly({}),
    },
    [],
  ),
  ServedBalancer: exactly({ list: boolean, resourceBackends: boolean, externalName: boolean }, []),
  ServedServiceBalancer: exactly(
    {
      list: boolean,
      protocols: { type: 'array', items: { enum: ['TCP', 'UDP', 'SCTP'] }, minItems: 1, uniqueItems: true },
      sourceRanges: boolean,
      target: { enum: ['instance', 'address'] },
      consistencyWindowMs: integer(0, 86_400_000),
    },
    [],
  ),
  Problem: {
    type: 'object',
    properties: {
      kind: { enum: Object.keys(PROBLEM_STATUS) },
      status: integer(400, 599),
      detail: text(LONGEST_DETAIL),
      retryAfterMs: integer(0, LONGEST_RETRY_MS),
      spoken: list(text(200), 20),
    },
    required: ['kind', 'status', 'detail'],
  },

  Identity: exactly(identity),
  Record: exactly({ status: ref('LoadBalancerStatus'), fingerprint: text(1_000) }, []),
  ListedBalancer: exactly({ ...identity, record: ref('Record') }, Object.keys(identity)),
  LoadBalancerStatus: exactly(
    {
      ingress: list(
        exactly(
          {
            ip: text(45),
            hostname: text(253),
            ipMode: text(20),
            ports: list(exactly({ port, protocol: text(10), error: text(316) }, ['port']), 1_000),
          },
          [],
        ),
        1_000,
      ),
    },
    [],
  ),
  Backends: atLeast({
    services: {
      type: 'array',
      items: atLeast(
        { namespace: name, name, externalName: text(253), ports: { type: 'array', items: ref('PortBackend') } },
        ['namespace', 'name', 'ports'],
      ),
    },
  }),
  PortBackend: atLeast(
    {
      port,
      name: text(253),
      protocol: text(10, 1),
      appProtocol: text(316),
      pools: { type: 'array', items: ref('BackendPool') },
      state: { enum: ['serving', 'held', 'empty'] },
    },
    ['name', 'protocol', 'pools', 'state'],
  ),
  BackendPool: atLeast({
    cluster: name,
    state: { enum: ['serving', 'held', 'empty', 'blocked'] },
    endpoints: { type: 'array', items: ref('BackendEndpoint') },
  }),
  BackendEndpoint: atLeast(
    {
      address: text(253, 1),
      family: { enum: ['IPv4', 'IPv6'] },
      port,
      ready: boolean,
      serving: boolean,
      terminating: boolean,
      draining: boolean,
      nodeName: text(253),
      zone: text(253),
    },
    ['address', 'family', 'port', 'ready', 'serving', 'terminating', 'draining'],
  ),
  Certificate: atLeast(
    {
      hosts: { type: 'array', items: text(253) },
      secretName: text(253),
      certificate: { type: 'string' },
      key: { type: 'string' },
    },
    ['hosts'],
  ),
  MultiClusterObject: karmadaObject,
  Service: object('v1', 'Service'),
  Node: object('v1', 'Node'),
  Route: exactly(
    {
      name: text(253),
      targetNode: text(253),
      enableNodeAddresses: boolean,
      targetNodeAddresses: list(ref('NodeAddress'), 1_000),
      destinationCIDR: text(64, 1),
      blackhole: boolean,
    },
    ['targetNode', 'destinationCIDR'],
  ),
  NodeAddress: exactly({ type: text(63, 1), address: text(253, 1) }),

  GetRequest: atLeast({ object: ref('MultiClusterObject'), context: atLeast(identityContext) }),
  EnsureRequest: atLeast({
    object: ref('MultiClusterObject'),
    context: atLeast({
      ...identityContext,
      backends: ref('Backends'),
      certificates: { type: 'array', items: ref('Certificate') },
      fingerprint: text(1_000),
    }),
  }),
  DeleteRequest: atLeast({ object: orNull(ref('MultiClusterObject')), context: atLeast(identityContext) }),
  ListRequest: atLeast({ ...page, context: ref('ClusterContext') }, ['limit', 'context']),
  ValidateRequest: atLeast({ object: ref('MultiClusterObject'), context: atLeast({ deadlineMs }) }),
  ClusterContext: atLeast({ clusterId: text(63, 1), deadlineMs }),
  ServiceGetRequest: atLeast({
    clusterName,
    object: ref('Service'),
    context: atLeast({ ...identityContext, options: { type: 'object' } }),
  }),
  ServiceEnsureRequest: atLeast({
    clusterName,
    object: ref('Service'),
    nodes: { type: 'array', items: ref('Node') },
    context: atLeast({
      ...identityContext,
      options: { type: 'object' },
      sourceRanges: { type: 'array', items: text(64, 1), minItems: 1 },
      healthCheck: orNull(atLeast({ protocol: { const: 'http' }, port, path: text(2_000) })),
      fingerprint: text(1_000),
    }),
  }),
  ServiceDeleteRequest: atLeast({
    clusterName,
    object: orNull(ref('Service')),
    context: atLeast({ ...identityContext, options: { type: 'object' } }),
  }),
  ServiceValidateRequest: atLeast({
    object: ref('Service'),
    context: atLeast({ deadlineMs, options: { type: 'object' } }),
  }),
  ClusterListRequest: atLeast({ clusterName, ...page, context: ref('ClusterContext') }, [
    'clusterName',
    'limit',
    'context',
  ]),
  NodeRequest: atLeast({ node: ref('Node'), context: ref('ClusterContext') }),
  RouteCreateRequest: atLeast({
    clusterName,
    nameHint: text(253),
    route: ref('Route'),
    context: ref('ClusterContext'),
  }),
  RouteDeleteRequest: atLeast({ clusterName, route: ref('Route'), context: ref('ClusterContext') }),

  RecordAnswer: exactly({
    record: orNull(ref('Record')),
  }),
  ResultAnswer: exactly({ result: exactly(result, []) }),
  ServiceResultAnswer: exactly({
    result: exactly(
      {
        ...result,
        warnings: list(
          exactly({
            reason: { enum: ['PortNotServed', 'OptionNotApplied', 'NodeSkipped', 'LoadBalancerMissing'] },
            message: text(LONGEST_DETAIL),
          }),
          1_000,
        ),
      },
      [],
    ),
  }),
  AbsentAnswer: exactly({ absent: { const: true } }),
  PresentAnswer: exactly({ present: { const: true } }),
  BalancersAnswer: exactly({ balancers: list(ref('ListedBalancer'), 1_000), ...rest }, ['balancers']),
  FindingsAnswer: exactly({
    findings: list(
      exactly({
        field: text(1_000),
        reason: {
          enum: [
            'FieldValueInvalid',
            'FieldValueRequired',
            'FieldValueNotSupported',
            'FieldValueDuplicate',
            'FieldValueForbidden',
            'FieldValueTypeInvalid',
            'FieldValueTooLong',
          ],
        },
        message: text(LONGEST_DETAIL),
      }),
      1_000,
    ),
  }),
  ExistsAnswer: exactly({ exists: boolean }),
  ShutdownAnswer: exactly({ shutdown: boolean }),
  MetadataAnswer: exactly({
    metadata: orNull(
      exactly(
        {
          providerID: text(1_000),
          instanceType: text(253),
          nodeAddresses: list(ref('NodeAddress'), 1_000),
          zone: text(253),
          region: text(253),
          additionalLabels: { type: 'object', additionalProperties: text(253) },
        },
        ['providerID', 'instanceType', 'nodeAddresses', 'zone', 'region'],
      ),
    ),
  }),
  RoutesAnswer: exactly({ routes: list(ref('Route'), 1_000), ...rest }, ['routes']),
}

/** What `$ref` names in one of them. */
export function schemaOf(reference: string): ProtocolSchema {
  const schema = PROTOCOL_SCHEMAS[reference.replace('#/components/schemas/', '')]
  if (schema === undefined) throw new TypeError(`the protocol has no schema ${reference}`)
  return schema
}
