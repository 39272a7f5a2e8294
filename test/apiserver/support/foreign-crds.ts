import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { ScenarioContext } from '../scenario.ts'

// Of Knative and cert-manager: their kinds, without their rules. What the rules are, the published schemas say.
const FOREIGN: [group: string, version: string, kind: string, plural: string, scope: 'Namespaced' | 'Cluster'][] = [
  ['cert-manager.io', 'v1', 'Certificate', 'certificates', 'Namespaced'],
  ['cert-manager.io', 'v1', 'Issuer', 'issuers', 'Namespaced'],
  ['eventing.knative.dev', 'v1', 'Broker', 'brokers', 'Namespaced'],
  ['eventing.knative.dev', 'v1', 'Trigger', 'triggers', 'Namespaced'],
  ['networking.internal.knative.dev', 'v1alpha1', 'ClusterDomainClaim', 'clusterdomainclaims', 'Cluster'],
  ['serving.knative.dev', 'v1', 'Service', 'services', 'Namespaced'],
  ['serving.knative.dev', 'v1beta1', 'DomainMapping', 'domainmappings', 'Namespaced'],
  ['sources.knative.dev', 'v1', 'PingSource', 'pingsources', 'Namespaced'],
  ['sources.knative.dev', 'v1', 'SinkBinding', 'sinkbindings', 'Namespaced'],
]

/** Runs the story while the kinds of Knative and cert-manager are served. */
export async function withForeignCrds({ kubectl }: ScenarioContext, story: () => Promise<void>): Promise<void> {
  const definitions = FOREIGN.map((each) => JSON.stringify(definition(...each))).join('\n---\n')
  await kubectl(['apply', '-f', '-'], definitions)
  try {
    await kubectl(['wait', '--for=condition=Established', '--timeout=30s', '-f', '-'], definitions)
    await story()
  } finally {
    // While it waits for several it may end without a word; what is gone by then is not looked for again.
    await eventually(() => kubectl(['delete', '--ignore-not-found', '-f', '-'], definitions), 60_000)
  }
}

function definition(group: string, version: string, kind: string, plural: string, scope: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
    },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
}
