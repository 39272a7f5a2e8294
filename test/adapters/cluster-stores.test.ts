import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { loadKubeConfig } from '../../src/adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../../src/adapters/kubernetes/kubernetes-cluster-store.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { CallWebhook } from '../../src/local/admission/call-webhook.ts'
import { createWebhookAdmission } from '../../src/local/admission/webhook-admission.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import {
  clusterStoreContract,
  type OpenStore,
  type OtherUsers,
  type StoreOptions,
  webhookConfiguration,
} from '../contracts/cluster-store-contract.ts'

const clock = createSystemClock()
const folder = mkdtempSync(join(tmpdir(), 'cluster-stores-'))
t.teardown(() => rmSync(folder, { recursive: true }))

const inMemory: OpenStore = async (options) => {
  const core = createControlPlaneCore({
    clock,
    uid: randomUUID,
    nameSuffix: () => 'x7k2p',
    definitions: definitionsOf(options),
    admission: (own) =>
      createWebhookAdmission({ core: own, clock, uid: randomUUID, callWebhook: webhookCaller(options) }),
  })
  return { store: createLocalClusterStore(core, 'tester'), ...worldOf(core), close: async () => {} }
}

const overHttps: OpenStore = async (options) => {
  const controlPlane = await startLocalControlPlane({
    authority: await createCertificateAuthority(createSystemClock().now()),
    clock,
    definitions: definitionsOf(options),
    callWebhook: webhookCaller(options),
  })
  const path = join(folder, 'kubeconfig')
  writeFileSync(path, controlPlane.kubeconfig)
  const store = createKubernetesClusterStore(loadKubeConfig({ kind: 'file', path }), { timeoutMs: 10_000, clock })
  return {
    store,
    ...worldOf(controlPlane.core),
    async close() {
      await store.close()
      await controlPlane.close()
    },
  }
}

t.test('the store over the core in memory', async (t) => clusterStoreContract(t, inMemory))
t.test('the Kubernetes adapter over a local control plane', async (t) => clusterStoreContract(t, overHttps))

function worldOf(core: ControlPlaneCore): { others: OtherUsers; askWebhook(url: string): Promise<void> } {
  core.preload(['shop', 'bank'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })))
  const user = { user: { username: 'somebody', groups: ['system:masters'] } }

  async function create(object: KubernetesObject): Promise<KubernetesObject> {
    const [version = '', group = ''] = object.apiVersion.split('/').reverse()
    const type = core.resources().find((known) => known.group === group && known.kind === object.kind)
    const { namespace } = object.metadata
    const target = { group, version, plural: type?.plural ?? '', ...(namespace === undefined ? {} : { namespace }) }
    const { object: stored } = await core.create(target, object, user)
    return JSON.parse(JSON.stringify(stored))
  }

  return {
    others: {
      create,
      async remove({ kind, namespace, name }: ObjectKey) {
        const { group, version, plural } = RESOURCES[kind]
        await core.delete({ group, version, plural, namespace, name }, user)
      },
      compact: async () => core.compact(),
    },
    askWebhook: async (url) => void (await create(webhookConfiguration(url))),
  }
}

function definitionsOf({ without }: StoreOptions): ApiObject[] {
  return karmadaCrds.filter(({ spec }) => (spec as { names: { kind: string } }).names.kind !== without)
}

function webhookCaller({ webhook }: StoreOptions): CallWebhook {
  return async (url, _caBundle, review) => {
    const answer = await webhook(url, review.request.uid)
    if (answer === undefined) throw new Error('connect ECONNREFUSED')
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
  }
}
