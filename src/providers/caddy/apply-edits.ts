import type { AssignedAddresses } from '../../domain/addresses/address-pool.ts'
import { sameJson } from '../../domain/canonical-json.ts'
import type { RoutePlan } from '../../domain/routing/route-plan.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { balancerId } from './balancer-id.ts'
import type { CaddyCertificate, CaddyConfiguration } from './caddy-configuration.ts'
import { type CaddyRecord, recordOf } from './caddy-record.ts'
import { type BalancerSettings, renderBalancer } from './render-balancer.ts'
import { type CaddyContent, readContent, renderConfiguration } from './render-configuration.ts'
import type { ServedBalancer, ServerSettings } from './render-server.ts'
import { servedCertificate } from './served-certificate.ts'

/** What is to become of one balancer. */
export type BalancerEdit = PutBalancer | RemoveBalancer

export interface PutBalancer {
  kind: 'put'
  identity: BalancerIdentity
  fingerprint: string
  plan: RoutePlan
  /** Chooses addresses; throws where they cannot be had, with a message for the object's owner. */
  assign(present: AssignedAddresses | undefined, others: readonly CaddyRecord[]): AssignedAddresses
}

export interface RemoveBalancer {
  kind: 'remove'
  identity: BalancerIdentity
}

export type EditResult =
  | { kind: 'done'; changed: boolean; assigned?: AssignedAddresses }
  | { kind: 'impossible'; error: unknown }

export interface CaddySettings extends ServerSettings, BalancerSettings {
  defaultCertificate?: CaddyCertificate
}

/**
 * Several edits at once, on every Caddy of a provider alike: addresses are chosen by what all of them have. An edit that
 * is impossible leaves everything as it is, and the others go on.
 */
export function applyEdits(
  configurations: readonly CaddyConfiguration[],
  edits: readonly BalancerEdit[],
  settings: CaddySettings,
): { configurations: CaddyConfiguration[]; results: EditResult[] } {
  const contents = configurations.map((configuration) => editable(readContent(configuration), settings))
  const results = edits.map((edit) => (edit.kind === 'put' ? put(contents, edit, settings) : remove(contents, edit)))
  return {
    configurations: configurations.map((configuration, index) =>
      renderConfiguration(configuration, contents[index] as EditableContent, settings),
    ),
    results,
  }
}

interface EditableContent extends CaddyContent {
  balancers: Map<string, ServedBalancer>
  certificates: Map<string, CaddyCertificate>
}

function editable({ balancers, certificates }: CaddyContent, { defaultCertificate }: CaddySettings): EditableContent {
  const own = new Map(certificates)
  for (const tag of defaultCertificate?.tags ?? []) own.set(tag, defaultCertificate as CaddyCertificate)
  return { balancers: new Map(balancers), certificates: own }
}

function put(contents: readonly EditableContent[], edit: PutBalancer, settings: CaddySettings): EditResult {
  const id = balancerId(edit.identity)
  try {
    const present = contents.map(({ balancers }) => balancers.get(id))
    const assigned = edit.assign(present.find((each) => each !== undefined)?.record.assigned, othersOf(contents, id))
    const certificates = edit.plan.certificates.map(({ hosts, secretName, certificate, key }) => ({
      hosts,
      served: servedCertificate(`secret ${edit.identity.namespace}/${secretName}`, certificate, key),
    }))
    const record = recordFor(
      edit,
      assigned,
      certificates.map(({ hosts, served }) => ({ hosts, tag: served.tags[0] })),
    )
    const routes = present.map((served) => renderBalancer(record, edit.plan, settings, served?.route))
    for (const [index, { balancers, certificates: loaded }] of contents.entries()) {
      const route = routes[index] as ServedBalancer['route']
      balancers.set(id, { record: recordOf(route) as CaddyRecord, route })
      for (const { served } of certificates) loaded.set(served.tags[0], served)
    }
    return { kind: 'done', assigned, changed: routes.some((route, index) => !sameJson(route, present[index]?.route)) }
  } catch (error) {
    return { kind: 'impossible', error }
  }
}

function recordFor(
  { identity, fingerprint, plan }: PutBalancer,
  assigned: AssignedAddresses,
  certificates: CaddyRecord['certificates'],
): Omit<CaddyRecord, 'digest'> {
  const { clusterId, kind, namespace, name, uid } = identity
  return {
    identity: { clusterId, kind, namespace, name, uid },
    fingerprint,
    assigned,
    routes: plan.routes,
    ...(plan.defaultUpstream === undefined ? {} : { defaultUpstream: plan.defaultUpstream }),
    ...(plan.options.rewriteTarget === undefined ? {} : { rewriteTarget: plan.options.rewriteTarget }),
    certificates,
  }
}

function othersOf(contents: readonly EditableContent[], id: string): CaddyRecord[] {
  const all = new Map(contents.flatMap(({ balancers }) => [...balancers]))
  all.delete(id)
  return [...all.values()].map(({ record }) => record)
}

function remove(contents: readonly EditableContent[], { identity }: RemoveBalancer): EditResult {
  const id = balancerId(identity)
  const removed = contents.filter(({ balancers }) => balancers.delete(id))
  return { kind: 'done', changed: removed.length > 0 }
}
