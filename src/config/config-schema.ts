const milliseconds = (fallback: number, maximum: number) =>
  ({ type: 'integer', minimum: 1, maximum, default: fallback }) as const

const count = (fallback: number, maximum: number) =>
  ({ type: 'integer', minimum: 1, maximum, default: fallback }) as const

const text = { type: 'string', minLength: 1 } as const

const section = (properties: Record<string, object>, required: string[] = []) =>
  ({ type: 'object', additionalProperties: false, default: {}, properties, required }) as const

const proofs = {
  tokenFile: text,
  clientSubjects: { type: 'array', items: text, minItems: 1, uniqueItems: true },
} as const

const oidcIssuer = {
  type: 'object',
  additionalProperties: false,
  required: ['issuer', 'audience', 'subjects'],
  properties: {
    issuer: { type: 'string', pattern: '^https://[^/?#@]+[^?#]*$' },
    audience: text,
    subjects: { type: 'array', items: text, minItems: 1, uniqueItems: true },
    caFile: text,
    tokenFile: text,
  },
} as const

const rate = (perSecond: number, burst: number) =>
  section({
    perSecond: { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000, default: perSecond },
    burst: count(burst, 1_000_000),
  })

// A qualified name: what the API server accepts as a finalizer.
const QUALIFIED_NAME = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'

// As API servers take it in a Service: the prefix may be left out.
const CLASS_OF_SERVICES = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'

/** The configuration file. JSON Schema, as much as `interpretSchema` knows: types, ranges and defaults; what depends on two fields is in `parse-config.ts`. */
export const CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['provider'],
  properties: {
    clusterId: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$', default: 'default' },
    provider: {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: text, options: { type: 'object', default: {} } },
    },
    finalizer: { type: 'string', pattern: QUALIFIED_NAME },
    takeOver: { type: 'boolean', default: false },
    controlPlane: { enum: ['karmada', 'kubernetes'] },
    cloud: section({
      clusterName: { ...text, default: 'kubernetes' },
      allowUntaggedCloud: { type: 'boolean', default: false },
      controllers: { type: 'array', items: text, default: ['*'] },
      loadBalancerClass: { type: 'string', pattern: CLASS_OF_SERVICES },
      configureCloudRoutes: { type: 'boolean', default: true },
      clusterCidr: { type: 'string', default: '' },
      nodes: section({
        onlyOurs: { type: 'boolean', default: false },
        refreshLabels: { type: 'boolean', default: false },
        newNodeGraceMs: { type: 'integer', minimum: 0, maximum: 3_600_000, default: 60_000 },
      }),
    }),
    ingressClass: section({
      controller: text,
      names: { type: 'array', items: text, uniqueItems: true, default: [] },
      default: { type: 'boolean', default: false },
      serviceLocations: { enum: ['owned', 'all'], default: 'owned' },
    }),
    multiClusterServices: section({
      selector: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
          matchExpressions: {
            type: 'array',
            items: {
              type: 'object',
              additionalProperties: false,
              required: ['key', 'operator'],
              properties: {
                key: text,
                operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
                values: { type: 'array', items: { type: 'string' } },
              },
            },
          },
        },
      },
    }),
    backends: section({
      networks: { type: 'array', items: text, uniqueItems: true },
      failOpen: { type: 'boolean', default: false },
      graceMs: { type: 'integer', minimum: 0, maximum: 600_000, default: 15_000 },
    }),
    orphans: section({ remove: { type: 'boolean', default: true } }),
    propagation: section({ enabled: { type: 'boolean', default: true } }),
    identity: text,
    kubernetes: section({
      kubeconfig: text,
      context: text,
      inCluster: { type: 'boolean', default: false },
      timeoutMs: milliseconds(10_000, 60_000),
    }),
    server: section({
      host: { ...text, default: '0.0.0.0' },
      port: { type: 'integer', minimum: 0, maximum: 65_535, default: 8443 },
      pathPrefix: { type: 'string', pattern: '^(/[A-Za-z0-9._~-]+)+$' },
      tls: {
        type: 'object',
        additionalProperties: false,
        required: ['certFile', 'keyFile'],
        properties: { certFile: text, keyFile: text, clientCaFile: text },
      },
    }),
    callers: section({
      admission: section(proofs),
      events: section({ ...proofs, oidc: oidcIssuer, rate: rate(1_000, 10_000) }),
      sweep: section({ ...proofs, rate: rate(10, 100) }),
      metrics: section(proofs),
      anyone: { type: 'boolean', default: false },
    }),
    queue: section({
      kind: { enum: ['memory', 'cloudevents', 'jetstream'] },
      concurrency: count(8, 1_000),
      capacity: count(10_000, 1_000_000),
      sink: { type: 'string', pattern: '^https?://' },
      tokenFile: text,
      timeoutMs: milliseconds(1_000, 10_000),
      servers: { type: 'array', items: text, minItems: 1, uniqueItems: true },
      name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,100}$' },
      credentialsFile: text,
      caFile: text,
      replicas: { enum: [1, 3, 5], default: 1 },
      ackWaitMs: milliseconds(30_000, 600_000),
      maxDeliveries: count(20, 1_000),
    }),
    lock: { enum: ['none', 'lease'] },
    lease: section({
      namespace: { ...text, default: 'webhook-cloud-provider' },
      durationSeconds: { type: 'integer', minimum: 5, maximum: 300, default: 15 },
      marginSeconds: { type: 'integer', minimum: 2, maximum: 60, default: 5 },
    }),
    work: section({
      deadlineMs: milliseconds(60_000, 600_000),
      providerDeadlineMs: milliseconds(45_000, 600_000),
    }),
    sweep: section({
      pageSize: count(500, 5_000),
      concurrency: count(8, 1_000),
      deadlineMs: milliseconds(50_000, 3_600_000),
      intervalMs: milliseconds(300_000, 86_400_000),
      periodMs: milliseconds(43_200_000, 86_400_000),
    }),
    watch: section({
      resources: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['version', 'plural', 'kind'],
          properties: {
            group: { type: 'string', default: '' },
            version: text,
            plural: text,
            kind: text,
            namespace: text,
            labelSelector: text,
            fieldSelector: text,
            metadataOnly: { type: 'boolean', default: false },
          },
        },
      },
    }),
    telemetry: section({
      traces: {
        type: 'object',
        additionalProperties: false,
        required: ['endpoint'],
        properties: {
          endpoint: text,
          sampleRatio: { type: 'number', minimum: 0, maximum: 1, default: 1 },
        },
      },
    }),
    shutdown: section({ drainMs: milliseconds(25_000, 600_000) }),
    log: section({ level: { enum: ['debug', 'info', 'warn', 'error', 'silent'], default: 'info' } }),
  },
} as const
