import { randomUUID } from 'node:crypto'
import { applyPatch, type Operation } from 'rfc6902'
import { parseConfig } from '../config/parse-config.ts'
import { kindOf, RESOURCES } from '../domain/kinds.ts'
import type { ApiObject } from '../local/core/api-object.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../local/core/control-plane-core.ts'
import { StatusError } from '../local/core/status-error.ts'
import { karmadaCrds } from '../local/crds/karmada-crds.ts'
import { createLocalClusterStore } from '../local/local-cluster-store.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { createFakeProvider, type FakeProvider } from '../providers/fake/fake-provider.ts'
import { composeRuntime, type Runtime } from './compose-runtime.ts'
import { composeWork } from './compose-work.ts'
import { openapiDocument } from './openapi-document.ts'

export interface ReplayWorld {
  runtime: Runtime
  core: ControlPlaneCore
  provider: FakeProvider
  /** What the API server does after a review that allowed it: the change, with the patch in it, is stored. */
  commit(review: unknown, patch: Operation[]): Promise<string | undefined>
}

const IDENTITY = 'system:serviceaccount:karmada-system:webhook-cloud-provider'

const CONFIG = JSON.stringify({
  provider: { name: 'fake' },
  callers: { anyone: true },
  identity: IDENTITY,
  ingressClass: { names: ['multicloud'], default: true },
  kubernetes: { kubeconfig: 'none: the store is in this process' },
})

/** A function in this process over an empty control plane in memory, whose default class is `multicloud`, ours. */
export function createReplayWorld({ clock, logger }: { clock: Clock; logger: Logger }): ReplayWorld {
  const core = createControlPlaneCore({ clock, uid: randomUUID, nameSuffix: () => 'x7k2p', definitions: karmadaCrds })
  const { config } = parseConfig(CONFIG, {})
  if (config === undefined) throw new TypeError('the configuration of the replay is invalid')
  const provider = createFakeProvider({ delayMs: 0, failure: () => undefined, clock })
  const store = createLocalClusterStore(core, IDENTITY)
  const runtime = composeRuntime({
    config,
    provider,
    store,
    composeWork,
    certificate: undefined,
    openapi: async () => openapiDocument(),
    clock,
    logger,
  })
  core.preload([ourClass(config.ingressClass.controller)])
  runtime.start()
  return { runtime, core, provider, commit: (review, patch) => commit(core, review, patch).catch(refusal) }
}

function ourClass(controller: string): ApiObject {
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: 'multicloud', annotations },
    spec: { controller },
  } as ApiObject
}

/** A review says nothing of what the API server finds wrong afterwards. */
function refusal(error: unknown): string {
  if (error instanceof StatusError) return `the API server refused it: ${error.message.slice(0, 300)}`
  throw error
}

interface Review {
  request: {
    operation: string
    kind: { group: string; kind: string }
    dryRun?: boolean
    subResource?: string
    object: ApiObject | null
    oldObject: ApiObject | null
  }
}

/** Stores what the review announced; answers a line that says what was done, or nothing where nothing is stored. */
async function commit(core: ControlPlaneCore, review: unknown, patch: Operation[]): Promise<string | undefined> {
  const { operation, kind, dryRun, subResource, object, oldObject } = (review as Review).request
  const known = kindOf(kind.group, kind.kind)
  const subject = object ?? oldObject
  if (known === undefined || subject === null || dryRun === true || subResource) return undefined
  const { namespace, name } = subject.metadata
  const { group, version, plural } = RESOURCES[known]
  const collection = { group, version, plural, ...(namespace === undefined ? {} : { namespace }) }
  if (namespace !== undefined) core.preload([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }])
  if (oldObject !== null) core.preload([oldObject])
  const user = { user: { username: 'replay', groups: ['system:masters'] } }
  const target = { ...collection, name }
  if (object !== null) applyPatch(object, patch)
  if (operation === 'DELETE') await core.delete(target, user)
  if (object !== null && operation === 'CREATE') await core.create(collection, object, user)
  if (object !== null && operation === 'UPDATE') {
    const { resourceVersion } = core.get(target).metadata
    await core.replace(target, { ...object, metadata: { ...object.metadata, resourceVersion } }, user)
  }
  return `${operation} of ${known} ${namespace ?? ''}/${name ?? ''} stored`
}
