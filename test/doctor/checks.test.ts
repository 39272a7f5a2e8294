import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { AdmissionRequest } from '../../src/domain/admission-request.ts'
import { type CheckName, diagnose } from '../../src/domain/doctor/diagnose.ts'
import { DOCTOR_ANNOTATION, doorNote, doorsThatNoted } from '../../src/domain/doctor/door-note.ts'
import type { State } from '../../src/domain/doctor/examination.ts'
import type { DoorAttempts, Facts } from '../../src/domain/doctor/facts.ts'
import { describeAccess, requiredAccess } from '../../src/domain/doctor/required-access.ts'
import { unfinishedObjects } from '../../src/domain/doctor/unfinished-objects.ts'
import { DOORS } from '../../src/domain/door.ts'
import type { ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import {
  buildDefaultClass,
  buildDryRun,
  buildFacts,
  buildSettings,
  EVERYTHING,
  KARMADAS,
  known,
  MUTATE,
  NOW,
  registered,
} from '../support/build-facts.ts'
import { buildIngress, buildService, FINALIZER } from '../support/build-objects.ts'

// Each check by itself: what turns it red or yellow, and what it then says.

const DAY_MS = 86_400_000
const unknown = { known: false, reason: 'nobody answered' } as const

interface Case {
  title: string
  facts: Partial<Facts>
  check: CheckName
  state: State
  says: RegExp
}

const dryRun = (changes: object): Partial<Facts> => ({ dryRun: known(buildDryRun(changes)) })
const webhooks = (...ours: object[]): Partial<Facts> => ({
  webhooks: known([...ours.map((changes) => registered({ ...MUTATE, ...changes })), KARMADAS]),
})
const certificate = (changes: object): Partial<Facts> => ({
  certificate: known({
    hosts: ['function.example.com'],
    notBefore: NOW - 10 * DAY_MS,
    notAfter: NOW + 80 * DAY_MS,
    ...changes,
  }),
})
const bundle = (value: object): Partial<Facts> => ({ bundles: known({ [MUTATE.name]: value as never }) })
const settings = (changes: object): Partial<Facts> => ({ settings: buildSettings(changes) })
/** The sweep door asks for a token. */
const sweepDoor = (attempts: Partial<DoorAttempts>): Partial<Facts> => ({
  ...settings({ doors: [{ door: 'sweep', proofs: ['token'], open: false }] }),
  entry: known([{ door: 'sweep', without: [], ...attempts }]),
})
const sweptAgo = (ms: number) => known(`sweep_last_completed_timestamp_seconds{scope="all"} ${(NOW - ms) / 1000}\n`)

const CASES: readonly Case[] = [
  {
    title: 'a kind is not served',
    facts: { served: known({ ...EVERYTHING, 'remedy.karmada.io/v1alpha1': [] }) },
    check: 'api',
    state: 'red',
    says: /^remedies\.remedy\.karmada\.io\/v1alpha1 is not served/,
  },
  {
    title: 'an API server without matchConditions',
    facts: { serverVersion: known('v1.27.9') },
    check: 'api',
    state: 'yellow',
    says: /v1\.27\.9 knows no matchConditions/,
  },
  {
    title: 'nothing is registered',
    facts: webhooks(),
    check: 'webhooks',
    state: 'red',
    says: /^mutate.* is not registered/,
  },
  {
    title: 'failurePolicy Fail',
    facts: webhooks({ failurePolicy: 'Fail' }),
    check: 'webhooks',
    state: 'red',
    says: /failurePolicy is not as expected: "Fail"/,
  },
  {
    title: 'rules too narrow',
    facts: webhooks({ rules: [] }),
    check: 'webhooks',
    state: 'red',
    says: /rules is not as expected: \[\]/,
  },
  {
    title: 'another timeout',
    facts: webhooks({ timeoutSeconds: 30 }),
    check: 'webhooks',
    state: 'yellow',
    says: /timeoutSeconds is not as expected: 30/,
  },
  {
    title: 'another door',
    facts: webhooks({ clientConfig: { url: 'https://function.example.com/secret/admission/validate' } }),
    check: 'webhooks',
    state: 'red',
    says: /does not call \/admission\/mutate$/,
  },
  {
    title: 'no address',
    facts: webhooks({ clientConfig: {} }),
    check: 'webhooks',
    state: 'red',
    says: /neither a URL nor a Service/,
  },
  {
    title: 'a webhook of another version',
    facts: webhooks({}, { name: 'old.webhook-cloud-provider.dev' }),
    check: 'webhooks',
    state: 'yellow',
    says: /^old\.webhook-cloud-provider\.dev in webhook-cloud-provider is of no use/,
  },
  {
    title: 'registered twice',
    facts: webhooks({}, {}),
    check: 'webhooks',
    state: 'yellow',
    says: /registered 2 times/,
  },
  {
    title: 'two functions',
    facts: webhooks(
      {},
      { name: 'x.webhook-cloud-provider.dev', clientConfig: { url: 'https://old/admission/mutate' } },
    ),
    check: 'webhooks',
    state: 'yellow',
    says: /different hosts: function\.example\.com:8443, old:443/,
  },
  {
    title: 'no PEM',
    facts: bundle({ state: 'unreadable' }),
    check: 'ca-bundle',
    state: 'red',
    says: /no PEM certificate/,
  },
  {
    title: 'an authority that is over',
    facts: bundle({ state: 'readable', notAfter: NOW - 1 }),
    check: 'ca-bundle',
    state: 'red',
    says: /has expired/,
  },
  {
    title: 'an authority that is nearly over',
    facts: bundle({ state: 'readable', notAfter: NOW + 7 * DAY_MS }),
    check: 'ca-bundle',
    state: 'yellow',
    says: /expires in 7 days/,
  },
  {
    title: 'another authority',
    facts: certificate({ chainFault: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    check: 'ca-bundle',
    state: 'red',
    says: /will not trust the serving certificate \(SELF_SIGNED_CERT_IN_CHAIN\)/,
  },
  {
    title: 'a bundle nobody could compare',
    facts: { certificate: unknown },
    check: 'ca-bundle',
    state: 'yellow',
    says: /^not known/,
  },
  {
    title: 'a host that is not found',
    facts: { addresses: unknown, ...dryRun({ warnings: [] }) },
    check: 'url',
    state: 'red',
    says: /^function\.example\.com is not found from here/,
  },
  {
    title: 'a host that only the API server finds',
    facts: { addresses: unknown },
    check: 'url',
    state: 'yellow',
    says: /but the API server finds it/,
  },
  {
    title: 'a certificate for another name',
    facts: certificate({ nameFault: 'it is for DNS:localhost' }),
    check: 'url',
    state: 'red',
    says: /not for function\.example\.com: it is for DNS:localhost/,
  },
  {
    title: 'expired',
    facts: certificate({ notAfter: NOW - 1 }),
    check: 'certificate',
    state: 'red',
    says: /has expired/,
  },
  {
    title: 'of tomorrow',
    facts: certificate({ notBefore: NOW + 1 }),
    check: 'certificate',
    state: 'red',
    says: /not valid yet/,
  },
  {
    title: 'nearly over',
    facts: certificate({ notAfter: NOW + DAY_MS / 4 }),
    check: 'certificate',
    state: 'red',
    says: /in 0 days/,
  },
  {
    title: 'due for renewal',
    facts: certificate({ notAfter: NOW + 1.5 * DAY_MS }),
    check: 'certificate',
    state: 'yellow',
    says: /expires in 1 day$/,
  },
  {
    title: 'not ready',
    facts: { readiness: known({ ready: false, failing: ['certificate: expired'] }) },
    check: 'reachability',
    state: 'red',
    says: /not ready: certificate: expired/,
  },
  {
    title: 'down',
    facts: { readiness: unknown, ...dryRun({ warnings: [] }) },
    check: 'reachability',
    state: 'red',
    says: /cannot be reached from here: nobody answered/,
  },
  { title: 'behind a wall', facts: { readiness: unknown }, check: 'reachability', state: 'yellow', says: /from here/ },
  {
    title: 'no door answers the API server',
    facts: dryRun({ warnings: [], finalizers: [] }),
    check: 'dry-run',
    state: 'red',
    says: /the mutate door did not answer the API server/,
  },
  {
    title: 'one door does not answer',
    facts: dryRun({ warnings: buildDryRun().warnings.slice(0, 2) }),
    check: 'dry-run',
    state: 'red',
    says: /^the notify door did not answer/,
  },
  {
    title: 'no finalizer is added',
    facts: dryRun({ finalizers: [] }),
    check: 'dry-run',
    state: 'red',
    says: /did not add webhook-cloud-provider\.dev\/fake/,
  },
  {
    title: 'a good object is refused',
    facts: dryRun({ status: 422, message: 'no' }),
    check: 'dry-run',
    state: 'red',
    says: /refused a good object \(422\): no/,
  },
  {
    title: 'who asks may not create',
    facts: dryRun({ status: 403, message: 'User "jo" cannot create resource "multiclusteringresses"' }),
    check: 'dry-run',
    state: 'yellow',
    says: /^not known: User "jo"/,
  },
  {
    title: 'the function asks itself',
    facts: {
      operator: known({ username: 'system:serviceaccount:wcp:wcp', groups: [] }),
      ...dryRun({ warnings: buildDryRun().warnings.slice(1), finalizers: [] }),
    },
    check: 'dry-run',
    state: 'yellow',
    says: /of our own writes it is not asked/,
  },
  {
    title: 'too slow',
    facts: dryRun({ secondMs: 3_000 }),
    check: 'latency',
    state: 'red',
    says: /as long as the timeout/,
  },
  { title: 'slow', facts: dryRun({ secondMs: 1_500 }), check: 'latency', state: 'yellow', says: /more than half/ },
  { title: 'cold', facts: dryRun({ firstMs: 4_000 }), check: 'latency', state: 'yellow', says: /cold start/ },
  {
    title: 'proof is refused',
    facts: sweepDoor({ withProof: { status: 401, from: 'callers.sweep.tokenFile', meant: true } }),
    check: 'authentication',
    state: 'red',
    says: /^the sweep door answers 401 to the token of callers\.sweep\.tokenFile$/,
  },
  {
    title: 'the path is another',
    facts: { entry: known([{ door: 'admission', withProof: { status: 404 }, without: [] }]) },
    check: 'authentication',
    state: 'red',
    says: /^the admission door answers 404 to all proof/,
  },
  {
    title: 'no proof is needed',
    facts: sweepDoor({ without: [{ proof: 'credential', status: 400 }] }),
    check: 'authentication',
    state: 'red',
    says: /^the sweep door takes a request without the credential \(400\)$/,
  },
  {
    title: 'the token is another door’s',
    facts: sweepDoor({ withProof: { status: 401, from: '--token-file', meant: false } }),
    check: 'authentication',
    state: 'yellow',
    says: /^not known: the token of --token-file is not one of the sweep door/,
  },
  {
    title: 'the token is not here',
    facts: sweepDoor({}),
    check: 'authentication',
    state: 'yellow',
    says: /^not known whether the sweep door takes its callers/,
  },
  {
    title: 'no proof is asked for',
    facts: settings({
      doors: DOORS.map((door) => ({ door, proofs: [], open: door === 'events' || door === 'sweep' })),
    }),
    check: 'authentication',
    state: 'yellow',
    says: /^whoever reaches these doors may use them: events, sweep$/,
  },
  {
    title: 'no webhook of Karmada',
    facts: { webhooks: known([registered(MUTATE)]) },
    check: 'karmada-webhooks',
    state: 'yellow',
    says: /have no webhook for networking\.karmada\.io/,
  },
  {
    title: 'Karmada’s webhook ignores failures',
    facts: {
      webhooks: known([registered(MUTATE), { ...KARMADAS, webhook: { ...KARMADAS.webhook, failurePolicy: 'Ignore' } }]),
    },
    check: 'karmada-webhooks',
    state: 'yellow',
    says: /has failurePolicy Ignore/,
  },
  {
    title: 'Karmada’s webhook does not answer',
    facts: dryRun({
      status: 500,
      message: 'failed calling webhook "multiclusteringress.karmada.io": connection refused',
    }),
    check: 'karmada-webhooks',
    state: 'red',
    says: /^multiclusteringress\.karmada\.io does not answer/,
  },
  {
    title: 'a verb is missing',
    facts: {
      access: known([
        {
          rule: {
            group: 'networking.karmada.io',
            resource: 'multiclusteringresses',
            subresource: 'status',
            verb: 'patch',
          },
          allowed: false,
        },
      ]),
    },
    check: 'rbac',
    state: 'red',
    says: /^RBAC refuses: patch multiclusteringresses\.networking\.karmada\.io\/status$/,
  },
  {
    title: 'we write under another name',
    facts: { writer: known({ username: 'system:serviceaccount:wcp:other', groups: [] }) },
    check: 'identity',
    state: 'red',
    says: /but we write as system:serviceaccount:wcp:other/,
  },
  {
    title: 'no identity',
    facts: settings({ identity: undefined }),
    check: 'identity',
    state: 'yellow',
    says: /is not set/,
  },
  {
    title: 'an administrator',
    facts: {
      ...settings({ identity: 'kubernetes-admin' }),
      writer: known({ username: 'kubernetes-admin', groups: ['system:masters'] }),
    },
    check: 'identity',
    state: 'yellow',
    says: /is an administrator/,
  },
  {
    title: 'used by people too',
    facts: { operator: known({ username: 'system:serviceaccount:wcp:wcp', groups: [] }) },
    check: 'identity',
    state: 'yellow',
    says: /used by people too/,
  },
  {
    title: 'no class of ours',
    facts: { ingressClasses: known([]) },
    check: 'ingress-class',
    state: 'red',
    says: /^no IngressClass has the controller/,
  },
  {
    title: 'our class is another’s',
    facts: { ingressClasses: known([buildDefaultClass('fake', 'example.com/other')]) },
    check: 'ingress-class',
    state: 'red',
    says: /IngressClass fake is another controller’s/,
  },
  {
    title: 'two defaults',
    facts: {
      ingressClasses: known([buildDefaultClass('fake', FINALIZER), buildDefaultClass('nginx', 'k8s.io/nginx')]),
    },
    check: 'ingress-class',
    state: 'red',
    says: /^2 classes are the default: fake, nginx$/,
  },
  {
    title: 'the default is not as configured',
    facts: settings({ ingressClass: { controller: FINALIZER, names: ['fake'], default: false } }),
    check: 'ingress-class',
    state: 'yellow',
    says: /the default class is ours, but ingressClass\.default is false/,
  },
  {
    title: 'no names',
    facts: settings({ ingressClass: { controller: FINALIZER, names: [], default: true } }),
    check: 'ingress-class',
    state: 'yellow',
    says: /names is empty/,
  },
  {
    title: 'a provider that can do nothing here',
    facts: { provider: known({ name: 'example', can: [], faults: ['it balances nothing over clusters'] }) },
    check: 'provider',
    state: 'red',
    says: /^example: it balances nothing over clusters$/,
  },
  {
    title: 'a provider that does not answer where the function runs',
    facts: {
      ...settings({ operatorIsApart: false }),
      providerAnswer: { known: false, reason: 'the admin endpoint of Caddy cannot be used' },
    },
    check: 'provider',
    state: 'red',
    says: /^fake does not answer from here: the admin endpoint of Caddy cannot be used$/,
  },
  {
    title: 'a provider that does not answer whoever asks from elsewhere',
    facts: { providerAnswer: { known: false, reason: 'no answer within 10 s' } },
    check: 'provider',
    state: 'yellow',
    says: /no answer within 10 s/,
  },
  {
    title: 'no sweep for long',
    facts: { metrics: sweptAgo(31 * 60_000) },
    check: 'last-sweep',
    state: 'red',
    says: /31 minutes ago, sweep\.intervalMs says every 5$/,
  },
  {
    title: 'a sweep was missed',
    facts: { metrics: sweptAgo(11 * 60_000) },
    check: 'last-sweep',
    state: 'yellow',
    says: /11 minutes/,
  },
  {
    title: 'no sweep at all',
    facts: { metrics: known('') },
    check: 'last-sweep',
    state: 'yellow',
    says: /^not known: .*no sweep/,
  },
  {
    title: 'one of another scope',
    facts: { metrics: known(`sweep_last_completed_timestamp_seconds{scope="nodes"} ${NOW / 1000}\n`) },
    check: 'last-sweep',
    state: 'yellow',
    says: /no sweep/,
  },
  {
    title: 'an object that cannot go',
    facts: {
      unfinished: known([{ name: 'MultiClusterIngress shop/web', state: 'leaving', since: NOW - 11 * 60_000 }]),
    },
    check: 'objects',
    state: 'red',
    says: /^MultiClusterIngress shop\/web cannot go/,
  },
  {
    title: 'objects without an address',
    facts: {
      unfinished: known(
        ['a', 'b', 'c', 'd'].map((name) => ({ name, state: 'unserved' as const, since: NOW - 11 * 60_000 })),
      ),
    },
    check: 'objects',
    state: 'yellow',
    says: /^a, b, c and 1 more /,
  },
]

t.test('a healthy installation is green throughout', async (t) => {
  const { state, checks } = diagnose(buildFacts())
  t.strictSame(
    checks.flatMap(({ problems }) => problems),
    [],
  )
  t.equal(state, 'green')
})

t.test('what turns a check red or yellow, and what it says', async (t) => {
  for (const { title, facts, check, state, says } of CASES) {
    const found = diagnose(buildFacts(facts)).checks.find(({ name }) => name === check)
    t.equal(found?.state, state, `${check}: ${title}`)
    const told = found?.problems.find((problem) => problem.state === state && says.test(problem.message))
    t.ok(told, `${check}: ${title}: ${found?.problems.map(({ message }) => message).join('; ')}`)
    t.ok(told?.remedy, `${check}: ${title}: there is a remedy`)
  }
})

t.test('every check can turn red', async (t) => {
  const reds = new Set(CASES.filter(({ state }) => state === 'red').map(({ check }) => check))
  t.strictSame(
    diagnose(buildFacts())
      .checks.map(({ name }) => name)
      .filter((name) => !reds.has(name)),
    [],
  )
})

t.test('what could not be asked is never green', async (t) => {
  const judgedBy: Record<string, CheckName[]> = {
    webhooks: ['webhooks', 'latency', 'karmada-webhooks'],
    bundles: ['ca-bundle'],
    address: ['url', 'reachability'],
    addresses: ['url'],
    certificate: ['ca-bundle', 'url', 'certificate'],
    readiness: ['reachability'],
    entry: ['authentication'],
    metrics: ['last-sweep'],
    dryRun: ['dry-run', 'latency', 'karmada-webhooks'],
    access: ['rbac'],
    writer: ['identity'],
    operator: ['identity'],
    served: ['api'],
    serverVersion: ['api'],
    ingressClasses: ['ingress-class'],
    provider: ['provider'],
    providerAnswer: ['provider'],
    unfinished: ['objects'],
  }
  const questions = Object.entries(buildFacts()).filter(([, fact]) => typeof fact === 'object' && 'known' in fact)
  for (const [question] of questions) {
    const { checks } = diagnose(buildFacts({ [question]: unknown }))
    const doubted = checks.filter(({ state }) => state !== 'green').map(({ name }) => name)
    const expected = judgedBy[question] ?? []
    t.ok(expected.length > 0 && expected.every((name) => doubted.includes(name)), `${question}: ${doubted}`)
  }
})

t.test('the checks are in docs/doctor.md, and nothing else', async (t) => {
  const text = await readFile(join(import.meta.dirname, '../../docs/doctor.md'), 'utf8')
  const rows = text.slice(text.indexOf('## The checks')).matchAll(/^\| `([a-z-]+)` \|/gm)
  t.strictSame(
    [...rows].map(([, name]) => name),
    diagnose(buildFacts()).checks.map(({ name }) => name),
  )
})

t.test('a door takes note of the mark in a dry run, and never otherwise', async (t) => {
  const marked = { [DOCTOR_ANNOTATION]: 'dry-run' }
  const note = (dryRun: boolean, annotations: unknown) => {
    const metadata = { name: 'web', ...(annotations === undefined ? {} : { annotations }) } as ObjectMeta
    return doorNote('notify', { dryRun, object: { apiVersion: 'v1', kind: 'Service', metadata } } as AdmissionRequest)
  }
  const said = note(true, marked)
  t.strictSame(doorsThatNoted([said ?? '']), ['notify'])
  t.equal(note(false, marked), undefined)
  for (const annotations of [undefined, null, 'text', [], {}, 1]) t.equal(note(true, annotations), undefined)
})

t.test('under one cluster nothing of Karmada is looked for', async (t) => {
  const { checks } = diagnose(
    buildFacts({
      ...settings({ controlPlane: 'kubernetes' }),
      served: known({ '/v1': ['services', 'nodes', 'events'] }),
    }),
  )
  const names = checks.map(({ name }) => name)
  t.notOk(names.includes('karmada-webhooks') || names.includes('ingress-class'))
  t.equal(checks.find(({ name }) => name === 'api')?.state, 'green')
})

t.test('which objects are unfinished', async (t) => {
  const leaving = { deletionTimestamp: '2026-03-01T07:00:00Z', finalizers: [FINALIZER] }
  const found = unfinishedObjects(
    {
      ingresses: [
        buildIngress({ metadata: { name: 'waits' } }),
        buildIngress({ metadata: { name: 'leaves', ...leaving } }),
        buildIngress({ metadata: { name: 'leaves-another', ...leaving, finalizers: ['example.com/other'] } }),
        buildIngress({ metadata: { name: 'of-another' }, spec: { ingressClassName: 'nginx' } }),
        buildIngress({
          metadata: { name: 'served', finalizers: [FINALIZER] },
          status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
        }),
      ],
      multiClusterServices: [buildService({ metadata: { name: 'not-selected' } })],
      services: [],
      nodes: [],
    },
    {
      finalizer: FINALIZER,
      classNames: ['multicloud'],
      selector: { matchLabels: { a: 'b' } },
      loadBalancerClass: undefined,
    },
  )
  t.match(found, [
    { name: 'MultiClusterIngress shop/waits', state: 'unserved' },
    { name: 'MultiClusterIngress shop/leaves', state: 'leaving', since: Date.parse('2026-03-01T07:00:00Z') },
  ])
  t.equal(found.length, 2)
})

t.test('the calls asked about are those that the roles of manifests/ grant', async (t) => {
  const manifests = join(import.meta.dirname, '../../manifests')
  const roles = ['base/karmada/rbac.yaml', 'components/several-instances/karmada/rbac.yaml']
  const karmada = { controlPlane: 'karmada', lock: 'lease', leaseNamespace: 'webhook-cloud-provider' } as const
  t.strictSame(
    requiredAccess(karmada).map(describeAccess).sort(),
    (await grantsIn(roles.map((name) => join(manifests, name)))).sort(),
  )
  const kubernetes = { controlPlane: 'kubernetes', lock: 'none', leaseNamespace: '' } as const
  t.strictSame(
    requiredAccess(kubernetes).map(describeAccess).sort(),
    (await grantsIn([join(manifests, 'kubernetes-ccm.yaml')])).sort(),
  )
})

interface Role {
  kind: string
  metadata: { name: string; namespace?: string }
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
}

/** Of the roles that have the function's name. */
async function grantsIn(files: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return texts
    .flatMap((text) => parseAllDocuments(text))
    .map((document) => document.toJS() as Role)
    .filter(({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && metadata.name === 'webhook-cloud-provider')
    .flatMap(({ metadata, rules = [] }) =>
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((name) =>
            verbs.map((verb) => {
              const [resource = name, subresource] = name.split('/')
              const { namespace } = metadata
              return describeAccess({
                group,
                resource,
                verb,
                ...(subresource && { subresource }),
                ...(namespace && { namespace }),
              })
            }),
          ),
        ),
      ),
    )
}
