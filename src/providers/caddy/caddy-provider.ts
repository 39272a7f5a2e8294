import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { addressWish } from '../../domain/addresses/address-wish.ts'
import { type AddressHolder, assignAddresses } from '../../domain/addresses/assign-addresses.ts'
import { publishedStatus } from '../../domain/addresses/published-status.ts'
import { routeClaims } from '../../domain/addresses/route-claims.ts'
import type { MultiClusterOptions } from '../../domain/balancer-annotations/multi-cluster-options.ts'
import { parseMultiClusterOptions } from '../../domain/balancer-annotations/parse-multi-cluster-options.ts'
import { canonicalJson, sameJson } from '../../domain/canonical-json.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import { planIngressRoutes } from '../../domain/routing/plan-ingress-routes.ts'
import { type RouteSettings, routeSettings } from '../../domain/routing/route-settings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { Terminal } from '../../provider/errors.ts'
import type {
  BalancerIdentity,
  BalancerRecord,
  BalancerResult,
  ListContext,
  LoadBalancer,
  MultiClusterProvider,
  ProviderContext,
} from '../../provider/multicluster.ts'
import type { ProviderFactory } from '../../provider/registry.ts'
import type { CaddySettings, PutBalancer } from './apply-edits.ts'
import { balancerId } from './balancer-id.ts'
import { type CaddyAdmin, type CaddyAdminTls, createCaddyAdmin } from './caddy-admin.ts'
import type { CaddyConfiguration, CaddyRoute } from './caddy-configuration.ts'
import { caddyFindings } from './caddy-findings.ts'
import { createCaddyFleet } from './caddy-fleet.ts'
import { type CaddyOptions, readCaddyOptions } from './caddy-options.ts'
import { type CaddyRecord, recordOf } from './caddy-record.ts'
import { isAsRendered } from './render-balancer.ts'
import { readContent } from './render-configuration.ts'
import { servedCertificate } from './served-certificate.ts'

/** A new way to render makes every record outdated, so that balancers are brought to it. */
const RENDERING = 2

/** Balancers of layer 7 in one Caddy or several, by their admin endpoints; see docs/caddy.md. */
export const caddyProviderFactory: ProviderFactory = ({ options, fault, logger, clock }) =>
  createCaddyProvider(readCaddyOptions({ options, fault }), { logger, clock })

export function createCaddyProvider(
  options: CaddyOptions,
  { logger, clock }: { logger: Logger; clock: Clock },
): MultiClusterProvider {
  const admins = options.admin.map((url) =>
    createCaddyAdmin({ url, timeoutMs: options.adminTimeoutMs, ...adminTls(options) }),
  )
  const revision = revisionOf(options)
  const fleet = createCaddyFleet({ admins, settings: () => readSettings(options, revision), clock, logger })

  async function put(ingress: MultiClusterIngress, context: ProviderContext): Promise<BalancerResult> {
    const { identity, fingerprint, backends, certificates, signal } = context
    const { asked, settings } = settingsOf(ingress)
    const plan = planIngressRoutes(ingress, backends, certificates, settings)
    const wish = addressWish(asked, routeClaims(plan))
    const assign: PutBalancer['assign'] = (held, others) => {
      const assignment = assignAddresses(wish, options.addresses, held, others.map(holderOf))
      if (assignment.kind === 'assigned') return assignment.assigned
      throw new Terminal(assignment.message)
    }
    const edit: PutBalancer = { kind: 'put', identity, fingerprint, plan, assign }
    const { assigned, changed, faults = [] } = await fleet.submit(edit, signal)
    if (faults.length > 0) throw new Error(faults.join('; '))
    return { ...(assigned && { status: publishedStatus(assigned) }), changed }
  }

  const loadBalancer: LoadBalancer = {
    getLoadBalancer: (_ingress, { identity, signal }) => find(admins, identity, revision, signal),
    ensureLoadBalancer: put,
    updateLoadBalancer: put,
    async ensureLoadBalancerDeleted(_ingress, { identity, signal }) {
      await fleet.submit({ kind: 'remove', identity }, signal)
    },
    listLoadBalancers: (context) => list(admins, context),
    validate: caddyFindings,
  }
  return { name: 'caddy', loadBalancer }
}

function holderOf({ identity: { kind, namespace, name }, assigned }: CaddyRecord): AddressHolder {
  return { name: `${kind} ${namespace}/${name}`, assigned }
}

function settingsOf(ingress: MultiClusterIngress): { asked: MultiClusterOptions; settings: RouteSettings } {
  const findings = caddyFindings(ingress)
  if (findings.length > 0) throw new Terminal(findings.map(({ field, message }) => `${field}: ${message}`).join('; '))
  const { options } = parseMultiClusterOptions(ingress, 'MultiClusterIngress')
  return { asked: options, settings: routeSettings({ ...passiveChecks(options), ...options }) }
}

/**
 * Passive checks are made only where they are asked for: to Caddy a request whose body is malformed is a failure of the
 * pod, so by a few of them anybody could take all pods away from everybody.
 */
function passiveChecks({ passiveSeconds }: MultiClusterOptions): Pick<MultiClusterOptions, 'passiveFailures'> {
  return passiveSeconds === undefined ? { passiveFailures: 0 } : {}
}

/** On several Caddies it is known only as far as all of them agree, and absent only where all of them say so. */
async function find(
  admins: readonly CaddyAdmin[],
  identity: BalancerIdentity,
  revision: string,
  signal: AbortSignal,
): Promise<BalancerRecord | undefined> {
  const answers = await Promise.allSettled(admins.map((admin) => admin.find(balancerId(identity), signal)))
  const routes = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
  const found = routes.filter((route) => route !== undefined)
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (found.length === 0 && failed !== undefined) throw failed.reason
  if (found.length === 0) return undefined
  const records = found.map(recordOf)
  const [record] = records
  if (record === undefined) return {}
  const isWhole =
    found.length === admins.length &&
    found.every((route) => isAsRendered(route as CaddyRoute, { revision })) &&
    records.every((each) => each?.fingerprint === record.fingerprint && sameJson(each.assigned, record.assigned))
  return { status: publishedStatus(record.assigned), ...(isWhole ? { fingerprint: record.fingerprint } : {}) }
}

async function list(admins: readonly CaddyAdmin[], { clusterId, signal }: ListContext): Promise<BalancerIdentity[]> {
  const answers = await Promise.all(admins.map((admin) => admin.read(signal)))
  const all = new Map(
    answers.flatMap(({ configuration }) => [...readContent((configuration ?? {}) as CaddyConfiguration).balancers]),
  )
  return [...all.values()]
    .map(({ record }) => record.identity)
    .filter((identity) => identity.clusterId === clusterId && identity.kind === 'MultiClusterIngress')
}

async function readSettings(options: CaddyOptions, revision: string): Promise<CaddySettings> {
  const { httpPort, httpsPort, defaultCertificate } = options
  const settings = { httpPort, httpsPort, revision }
  if (defaultCertificate === undefined) return settings
  const [certificate, key] = await Promise.all([
    readFile(defaultCertificate.certFile, 'utf8'),
    readFile(defaultCertificate.keyFile, 'utf8'),
  ])
  const served = servedCertificate('provider.options.defaultCertificate', certificate, key)
  return { ...settings, defaultCertificate: served, defaultCertificateTag: served.tags[0] }
}

/** Of what every balancer is rendered by, the certificates aside, which are renewed. */
function revisionOf({ addresses, httpPort, httpsPort, defaultCertificate }: CaddyOptions): string {
  const settings = canonicalJson({ RENDERING, addresses, httpPort, httpsPort, defaultCertificate })
  return createHash('sha256').update(settings).digest('hex').slice(0, 16)
}

function adminTls({ adminTls: files }: CaddyOptions): { tls?: () => Promise<CaddyAdminTls> } {
  if (files === undefined) return {}
  const { caFile, certFile, keyFile, serverName } = files
  const tls = async (): Promise<CaddyAdminTls> => ({
    ...(caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') }),
    ...(certFile === undefined ? {} : { cert: await readFile(certFile, 'utf8') }),
    ...(keyFile === undefined ? {} : { key: await readFile(keyFile, 'utf8') }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  })
  return { tls }
}
