import {
  anything,
  atomicList,
  flag,
  integer,
  keyedList,
  kindSchema,
  list,
  mapOf,
  object,
  oneOfTexts,
  text,
  timestamp,
} from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'

// Only the fields that are looked at here are spelled out; what else these kinds have is kept as it comes.
const OPEN = { 'x-kubernetes-preserve-unknown-fields': true }

const condition = (): StructuralSchema =>
  object(
    {
      'type!': text('What the condition is about.'),
      'status!': text('True, False or Unknown.'),
      reason: text('One word why.'),
      message: text('The same for people.'),
      lastTransitionTime: timestamp('When the status last changed.'),
      observedGeneration: integer('int64', 'The generation the condition speaks of.'),
    },
    'One aspect of the current state.',
    OPEN,
  )

const conditions = () => keyedList(['type'], condition(), 'Aspects of the current state, one a type.')

export function namespaceSchema(): StructuralSchema {
  return kindSchema(
    {
      spec: object({ finalizers: list(text(), 'Who has to agree before the namespace goes.') }),
      status: object({ phase: text('Active or Terminating.'), conditions: conditions() }),
    },
    'A scope for names.',
  )
}

export function serviceSchema(): StructuralSchema {
  const intOrString: StructuralSchema = { 'x-kubernetes-int-or-string': true }
  const port = object(
    {
      name: text('Name of this port; needed when there are several.'),
      protocol: oneOfTexts(['TCP', 'UDP', 'SCTP'], 'Transport protocol.', { default: 'TCP' }),
      'port!': integer('int32', 'The port the Service listens on.'),
      targetPort: { description: 'Port of the pods, by number or name.', ...intOrString },
      nodePort: integer('int32', 'The port on every node, for NodePort and LoadBalancer.'),
      appProtocol: text('What is spoken on this port.'),
    },
    'One port of a Service.',
  )
  const spec = object(
    {
      type: oneOfTexts(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'], 'How the Service is exposed.'),
      selector: mapOf(text(), 'Labels of the pods behind the Service.'),
      ports: keyedList(['port', 'protocol'], port, 'The ports of the Service.'),
      clusterIP: text('Address inside the cluster, or None.'),
      externalName: text('DNS name a Service of type ExternalName stands for.'),
      loadBalancerClass: text('Who is to implement the load balancer.'),
      loadBalancerIP: text('Deprecated wish for an address.'),
      loadBalancerSourceRanges: atomicList(text(), 'Client networks that are let in.'),
      externalTrafficPolicy: oneOfTexts(['Cluster', 'Local'], 'Which nodes take external traffic.'),
      allocateLoadBalancerNodePorts: flag('Whether node ports are allocated for a load balancer.'),
    },
    'The desired state.',
    OPEN,
  )
  const ingress = object(
    {
      ip: text('Address, where the balancer has one.'),
      hostname: text('DNS name, where the balancer has one.'),
      ipMode: text('VIP or Proxy.'),
      ports: atomicList(anything('State of one port.')),
    },
    'One way into the balancer.',
  )
  const status = object(
    {
      loadBalancer: object({ ingress: atomicList(ingress, 'The ways into the balancer.') }),
      conditions: conditions(),
    },
    'The current state.',
  )
  return kindSchema({ spec, status }, 'A stable address for a set of pods.')
}

export function eventSchema(): StructuralSchema {
  const involved = object(
    {
      apiVersion: text(),
      kind: text(),
      namespace: text(),
      name: text(),
      uid: text(),
      resourceVersion: text(),
      fieldPath: text(),
    },
    'What the event is about.',
  )
  return kindSchema(
    {
      'involvedObject!': involved,
      related: involved,
      reason: text('One word why.'),
      message: text('The same for people.'),
      source: object({ component: text(), host: text() }, 'Who reports.'),
      firstTimestamp: timestamp('When it was seen first.'),
      lastTimestamp: timestamp('When it was seen last.'),
      eventTime: timestamp('When it was seen first, precisely.'),
      count: integer('int32', 'How often it was seen.'),
      type: text('Normal or Warning.'),
      action: text('What was done.'),
      reportingComponent: text('Name of the controller that reports.'),
      reportingInstance: text('Which instance of it.'),
      series: anything('How a repeated event goes on.'),
    },
    'Something that happened to an object.',
  )
}

export function secretSchema(): StructuralSchema {
  return kindSchema(
    {
      data: mapOf(text(), 'Values in base64.'),
      stringData: mapOf(text(), 'Values in the clear, write-only.'),
      type: text('What the values mean.', { default: 'Opaque' }),
      immutable: flag('Whether the values are fixed.'),
    },
    'Confidential values.',
  )
}

export function configMapSchema(): StructuralSchema {
  return kindSchema(
    {
      data: mapOf(text(), 'Values as text.'),
      binaryData: mapOf(text(), 'Values in base64.'),
      immutable: flag('Whether the values are fixed.'),
    },
    'Configuration values.',
  )
}

export function podSchema(): StructuralSchema {
  return kindSchema(
    { spec: anything('Containers and how to run them.'), status: anything() },
    'Containers that run together.',
  )
}

export function nodeSchema(): StructuralSchema {
  const spec = object(
    {
      providerID: text('The machine in the terms of its cloud.'),
      unschedulable: flag('Whether new pods are kept away.'),
      taints: atomicList(
        object({ 'key!': text(), 'effect!': text(), value: text(), timeAdded: timestamp() }, 'Keeps pods away.'),
      ),
    },
    'The desired state.',
    OPEN,
  )
  return kindSchema({ spec, status: anything('The current state.') }, 'A machine of the cluster.')
}

export function deploymentSchema(): StructuralSchema {
  const spec = object(
    {
      replicas: integer('int32', 'How many pods.', { default: 1 }),
      'selector!': anything('Which pods belong to it.'),
      'template!': anything('What each pod is made from.'),
    },
    'The desired state.',
    OPEN,
  )
  return kindSchema({ spec, status: anything('The current state.') }, 'Pods that are kept running and updated.')
}

export function ingressClassSchema(): StructuralSchema {
  const parameters = object({
    apiGroup: text(),
    'kind!': text(),
    'name!': text(),
    namespace: text(),
    scope: text(),
  })
  const spec = object({ controller: text('Who implements the class.'), parameters }, 'The class.')
  return kindSchema({ spec }, 'A class of ingresses and who implements it.')
}

export function endpointSliceSchema(): StructuralSchema {
  const endpoint = object({ 'addresses!': list(text(), 'Addresses of one endpoint.') }, 'One endpoint.', OPEN)
  const port = object({ name: text(), port: integer('int32'), protocol: text(), appProtocol: text() })
  return kindSchema(
    {
      'addressType!': oneOfTexts(['IPv4', 'IPv6', 'FQDN'], 'What the addresses are.'),
      endpoints: atomicList(endpoint, 'The endpoints.'),
      ports: atomicList(port, 'The ports every endpoint serves.'),
    },
    'Some of the endpoints of a Service.',
  )
}

export function leaseSchema(): StructuralSchema {
  const spec = object({
    holderIdentity: text('Who holds the lease.', { nullable: true }),
    leaseDurationSeconds: integer('int32', 'How long it holds after a renewal.', { nullable: true }),
    acquireTime: { ...timestamp('When it was taken.'), nullable: true },
    renewTime: { ...timestamp('When it was renewed last.'), nullable: true },
    leaseTransitions: integer('int32', 'How often the holder changed.', { nullable: true }),
    strategy: text('How the holder is chosen.', { nullable: true }),
    preferredHolder: text('Who should hold it.', { nullable: true }),
  })
  return kindSchema({ spec }, 'A claim that one holder renews.')
}

export function webhookConfigurationSchema(kind: 'mutating' | 'validating'): StructuralSchema {
  const rule = object({
    operations: atomicList(text()),
    apiGroups: atomicList(text()),
    apiVersions: atomicList(text()),
    resources: atomicList(text()),
    scope: oneOfTexts(['*', 'Cluster', 'Namespaced'], undefined, { default: '*' }),
  })
  const clientConfig = object({
    url: text('HTTPS address of the webhook.'),
    service: object({ 'namespace!': text(), 'name!': text(), path: text(), port: integer('int32') }),
    caBundle: text('PEM certificates in base64 that are trusted for this webhook.'),
  })
  const webhook = object(
    {
      'name!': text('Full name of the webhook.'),
      'clientConfig!': clientConfig,
      rules: atomicList(rule, 'Which requests it is asked about.'),
      failurePolicy: oneOfTexts(['Ignore', 'Fail'], 'What holds when it cannot be asked.', { default: 'Fail' }),
      matchPolicy: oneOfTexts(['Exact', 'Equivalent'], undefined, { default: 'Equivalent' }),
      namespaceSelector: { ...anything('Labels of the namespace.'), default: {} },
      objectSelector: { ...anything('Labels of the object.'), default: {} },
      'sideEffects!': oneOfTexts(['None', 'NoneOnDryRun'], 'Whether asking changes anything.'),
      timeoutSeconds: integer('int32', 'How long to wait.', { default: 10 }),
      'admissionReviewVersions!': atomicList(text(), 'Versions of the review it understands.'),
      matchConditions: keyedList(['name'], object({ 'name!': text(), 'expression!': text() })),
      ...(kind === 'mutating'
        ? { reinvocationPolicy: oneOfTexts(['Never', 'IfNeeded'], undefined, { default: 'Never' }) }
        : {}),
    },
    'One webhook.',
  )
  return kindSchema({ webhooks: keyedList(['name'], webhook) }, `The ${kind} webhooks of somebody.`)
}

export function customResourceDefinitionSchema(): StructuralSchema {
  const names = object({
    'plural!': text(),
    singular: text(),
    'kind!': text(),
    listKind: text(),
    shortNames: atomicList(text()),
    categories: atomicList(text()),
  })
  const version = object(
    { 'name!': text(), 'served!': flag(), 'storage!': flag(), schema: anything(), subresources: anything() },
    'One version of the resource.',
    OPEN,
  )
  const spec = object(
    {
      'group!': text('API group.'),
      'names!': names,
      'scope!': oneOfTexts(['Cluster', 'Namespaced']),
      'versions!': atomicList(version),
      conversion: anything(),
      preserveUnknownFields: flag(),
    },
    'The resource to serve.',
  )
  return kindSchema({ 'spec!': spec, status: anything('Whether it is served.') }, 'A resource of your own.')
}

export function accessReviewSchema(): StructuralSchema {
  return kindSchema({ 'spec!': anything('What is to be done.'), status: anything('Whether it may be.') }, 'May I?')
}

export function selfReviewSchema(): StructuralSchema {
  return kindSchema({ status: anything('The user, as authenticated.') }, 'Who am I?')
}
