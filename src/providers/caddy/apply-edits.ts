import type { AssignedAddresses } from '../../domain/addresses/address-pool.ts'
import { sameJson } from '../../domain/canonical-json.ts'
import type { RoutePlan } from '../../domain/routing/route-plan.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { balancerId } from './balancer-id.ts'
import type { CaddyCertificate, CaddyConfiguration } from './caddy-configuration.ts'
import { type CaddyRecord, type RecordedCertificate, recordOf } from './caddy-record.ts'
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
  /** `faults`: what could not be done for the object, in sentences for its owner; the rest is. */
  | { kind: 'done'; changed: boolean; assigned?: AssignedAddresses; faults?: string[] }
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
    const assigned = edit.assign(anyOf(present)?.record.assigned, othersOf(contents, id))
    const { certificates, faults } = chooseCertificates(edit, present, contents)
    const record = recordFor(edit, assigned, certificates, faults)
    const routes = present.map((served) =>
      renderBalancer(record, edit.plan, settings, (served ?? anyOf(present))?.route),
    )
    for (const [index, { balancers, certificates: loaded }] of contents.entries()) {
      const route = routes[index] as ServedBalancer['route']
      balancers.set(id, { record: recordOf(route) as CaddyRecord, route })
      for (const { tag, served } of certificates) loaded.set(tag, served)
    }
    const changed = routes.some((route, index) => !sameJson(route, present[index]?.route))
    return { kind: 'done', assigned, changed, faults }
  } catch (error) {
    return { kind: 'impossible', error }
  }
}

type Present = readonly (ServedBalancer | undefined)[]

/** On a Caddy that has lost it, it is what another one has. */
function anyOf(present: Present): ServedBalancer | undefined {
  return present.find((each) => each !== undefined)
}

interface ChosenCertificate extends RecordedCertificate {
  served: CaddyCertificate
}

/** A Secret that cannot be used holds up nothing else; its hosts keep the certificate that they have. */
function chooseCertificates(
  { identity, plan }: PutBalancer,
  present: Present,
  contents: readonly EditableContent[],
): { certificates: ChosenCertificate[]; faults: string[] } {
  const faults: string[] = []
  const certificates = plan.certificates.flatMap(({ hosts, secretName, certificate, key }): ChosenCertificate[] => {
    try {
      const served = servedCertificate(`secret ${identity.namespace}/${secretName}`, certificate, key)
      return [{ hosts, tag: served.tags[0], served }]
    } catch (error) {
      faults.push((error as Error).message)
      const tag = anyOf(present)?.record.certificates.find((each) => sameJson(each.hosts, hosts))?.tag ?? ''
      const served = contents.map(({ certificates: loaded }) => loaded.get(tag)).find((each) => each !== undefined)
      return served === undefined ? [] : [{ hosts, tag, served }]
    }
  })
  return { certificates, faults }
}

/** Without a fingerprint as long as there are faults, so that they are tried, and told, again. */
function recordFor(
  { identity, fingerprint, plan }: PutBalancer,
  assigned: AssignedAddresses,
  certificates: readonly RecordedCertificate[],
  faults: readonly string[],
): Omit<CaddyRecord, 'digest'> {
  const { clusterId, kind, namespace, name, uid } = identity
  return {
    identity: { clusterId, kind, namespace, name, uid },
    fingerprint: faults.length === 0 ? fingerprint : '',
    assigned,
    routes: plan.routes,
    ...(plan.defaultUpstream === undefined ? {} : { defaultUpstream: plan.defaultUpstream }),
    ...(plan.options.rewriteTarget === undefined ? {} : { rewriteTarget: plan.options.rewriteTarget }),
    certificates: certificates.map(({ hosts, tag }) => ({ hosts, tag })),
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
