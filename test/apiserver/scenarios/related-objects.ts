import assert from 'node:assert/strict'
import type { KubernetesObject } from '../../../src/domain/kubernetes-object.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { buildServiceWorld, buildSlice } from '../../support/build-objects.ts'
import type { Scenario } from '../scenario.ts'
import { ingress, ingressPath } from '../support/balanced-objects.ts'
import { withInstallation } from '../support/installation.ts'

const namespace = 'related-objects'
const core = `/api/v1/namespaces/${namespace}`
const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
const bindings = `/apis/work.karmada.io/v1alpha2/namespaces/${namespace}/resourcebindings`

/** The world of a Service is built in namespace `shop`; a binding also names the namespace of what it binds. */
const inNamespace = (object: KubernetesObject): object =>
  JSON.parse(JSON.stringify(object).replaceAll('"namespace":"shop"', `"namespace":"${namespace}"`))

/** What an ingress depends on, changed by somebody else; without a sweep only a review can tell of it. */
const CHANGES: readonly { what: string; path: string; patch: object }[] = [
  {
    what: 'a Service gets another protocol',
    path: `${core}/services/web`,
    patch: { spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' }] } },
  },
  {
    what: 'a slice gets another address',
    path: `${slices}/imported-edge-a-web-x7k2p`,
    patch: { endpoints: buildSlice({ endpoints: ['10.64.0.99'] }).endpoints },
  },
  {
    what: 'a Service leaves a cluster',
    path: `${bindings}/web-service`,
    patch: { spec: { clusters: [{ name: 'edge-a' }] } },
  },
]

export const scenario: Scenario = {
  name: 'what an ingress depends on: reviews alone bring its balancer up to date, and a class its ingresses',
  async run(context) {
    const { admin } = context
    await withInstallation(context, namespace, async (installed) => {
      await installed.start()
      await installed.register()
      for (const object of buildServiceWorld('web')) {
        const path =
          { Service: `${core}/services`, ResourceBinding: bindings, EndpointSlice: slices }[object.kind] ?? ''
        await mustBe(201, admin.post(path, inNamespace(object)))
      }
      await mustBe(201, admin.post(ingressPath(namespace), ingress('storefront')))
      await eventually(() => installed.converged(1))
      const fingerprint = () => installed.balancersIn([namespace])[0]?.fingerprint
      // The objects above are news too, for half a second.
      await eventually(async () => {
        const before = fingerprint()
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        assert.equal(fingerprint(), before)
      }, 20_000)
      for (const { what, path, patch } of CHANGES) {
        const before = fingerprint()
        await mustBe(200, admin.patch('merge-patch', path, patch))
        await eventually(() => assert.notEqual(fingerprint(), before, what), 10_000)
      }
      await aClassAppears()
      context.log(`${CHANGES.length} changes and a class, told by reviews alone`)

      async function aClassAppears(): Promise<void> {
        const late = { metadata: { name: 'late' }, spec: { controller: 'webhook-cloud-provider.dev/fake' } }
        const waiting = ingress('waiting', { spec: { ingressClassName: 'late' } })
        await mustBe(201, admin.post(ingressPath(namespace), waiting))
        const classes = '/apis/networking.k8s.io/v1/ingressclasses'
        await mustBe(201, admin.post(classes, { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', ...late }))
        await eventually(() => installed.converged(2), 10_000)
        await mustBe(200, admin.delete(`${classes}/late`))
      }
    })
  },
}
