import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  createCertificateAuthority,
  openCertificateAuthority,
} from '../src/adapters/certificates/certificate-authority.ts'
import type { CertificateFiles, CertificateKeeper } from '../src/adapters/certificates/certificate-keeper.ts'
import { createCertificateSecret } from '../src/adapters/certificates/certificate-secret.ts'
import { describeCertificate } from '../src/adapters/certificates/describe-certificate.ts'
import { splitBundle } from '../src/adapters/certificates/read-certificates.ts'
import { findBundles } from '../src/compose/ca-bundles.ts'
import { cloudWebhookConfigurations } from '../src/compose/cloud-webhook-configurations.ts'
import { type CertificateRenewal, lookAtCertificates, renewCertificates } from '../src/compose/renew-certificates.ts'
import { webhookConfigurations } from '../src/compose/webhook-configurations.ts'
import { caBundlePatch } from '../src/domain/certificates/ca-bundle-patch.ts'
import {
  type FoundCertificates,
  planCertificates,
  type WantedCertificates,
} from '../src/domain/certificates/plan-certificates.ts'
import type { KubernetesObject } from '../src/domain/kubernetes-object.ts'
import type { WebhookConfiguration } from '../src/domain/webhook-configuration.ts'
import { createControlPlaneCore } from '../src/local/core/control-plane-core.ts'
import { createLocalClusterStore } from '../src/local/local-cluster-store.ts'
import { startLocalControlPlane } from '../src/local/start-local-control-plane.ts'
import type { ClusterStore } from '../src/ports/cluster-store.ts'
import { wcp } from './support/command-line.ts'
import { createManualClock } from './support/manual-clock.ts'

const DAY = 86_400_000
const START = Date.now()
const signal = new AbortController().signal

// ---- the plan ----

const FOUND: FoundCertificates = {
  authorities: [{ fingerprint: 'new', madeAt: 0, notBefore: 0, notAfter: 300 }],
  canSign: true,
  serving: { hosts: ['a', 'b'], notBefore: 0, notAfter: 90, issuer: 'new' },
  issued: [],
  trusted: true,
}
const WANTED: WantedCertificates = {
  hosts: ['a', 'b'],
  renewAuthority: false,
  renewServing: false,
  retireAuthorities: false,
  settleMs: 10,
}
/** A new authority, made at 0, before one that signed what is served. */
const OVERLAP: FoundCertificates = {
  ...FOUND,
  authorities: [...FOUND.authorities, { fingerprint: 'old', madeAt: -200, notBefore: -200, notAfter: 100 }],
  serving: { hosts: ['a', 'b'], notBefore: -50, notAfter: 40, issuer: 'old' },
}
const AFTER: FoundCertificates = {
  ...OVERLAP,
  serving: { hosts: ['a', 'b'], notBefore: 10, notAfter: 100, issuer: 'new' },
  issued: [
    { hosts: ['a', 'b'], notBefore: 10, notAfter: 100, issuer: 'new' },
    { hosts: ['a', 'b'], notBefore: -50, notAfter: 40, issuer: 'old' },
  ],
}

for (const { title, found = FOUND, wanted = WANTED, now = 1, plan, retired: expected = [] } of [
  { title: 'all is good', plan: ['keep', 'keep'] },
  { title: 'a third of its life is left, but a moment', now: 59, plan: ['keep', 'keep'] },
  { title: 'two thirds of its life are over', now: 60, plan: ['keep', 'issue'] },
  { title: 'it has expired', now: 91, plan: ['keep', 'issue'] },
  {
    title: 'there is nothing',
    found: { ...FOUND, authorities: [], canSign: false, serving: undefined },
    plan: ['make', 'issue'],
  },
  { title: 'its key is lost', found: { ...FOUND, serving: undefined }, plan: ['keep', 'issue'] },
  { title: 'another host is wanted', wanted: { ...WANTED, hosts: ['a', 'b', 'c'] }, plan: ['keep', 'issue'] },
  { title: 'a host is wanted no more', wanted: { ...WANTED, hosts: ['a'] }, plan: ['keep', 'issue'] },
  { title: 'the order of hosts means nothing', wanted: { ...WANTED, hosts: ['b', 'a'] }, plan: ['keep', 'keep'] },
  { title: 'a new one is asked for', wanted: { ...WANTED, renewServing: true }, plan: ['keep', 'issue'] },
  { title: 'the key of the authority is lost', found: { ...FOUND, canSign: false }, plan: ['make', 'wait'] },
  {
    title: 'two thirds of the authority’s life are over',
    found: { ...FOUND, serving: { ...AFTER.serving, hosts: ['a', 'b'], notBefore: 190, notAfter: 280, issuer: 'new' } },
    now: 200,
    plan: ['make', 'wait'],
  },
  { title: 'the authority has expired', now: 301, plan: ['make', 'issue'], retired: ['new'] },
  { title: 'a new authority is asked for', wanted: { ...WANTED, renewAuthority: true }, plan: ['make', 'wait'] },
  {
    title: 'another authority signed it',
    found: { ...FOUND, serving: { hosts: ['a', 'b'], notBefore: 0, notAfter: 90, issuer: undefined } },
    plan: ['keep', 'issue'],
  },
  { title: 'a new authority is not known for long', found: OVERLAP, now: 9, plan: ['keep', 'wait'] },
  {
    title: 'a new authority is not known to all',
    found: { ...OVERLAP, trusted: false },
    now: 30,
    plan: ['keep', 'wait'],
  },
  {
    title: 'a host is wanted no more, while a new authority settles',
    found: OVERLAP,
    wanted: { ...WANTED, hosts: ['a'] },
    plan: ['keep', 'wait'],
  },
  { title: 'a new authority is known long enough', found: OVERLAP, now: 10, plan: ['keep', 'issue'] },
  {
    title: 'what serves nobody waits for nothing',
    found: { ...OVERLAP, trusted: false },
    now: 41,
    plan: ['keep', 'issue'],
    retired: ['old'],
  },
  { title: 'a certificate of the old authority may be served still', found: AFTER, now: 40, plan: ['keep', 'keep'] },
  {
    title: 'the last certificate of the old authority has expired',
    found: AFTER,
    now: 41,
    plan: ['keep', 'keep'],
    retired: ['old'],
  },
  {
    title: 'the old authority is to go at once',
    found: AFTER,
    wanted: { ...WANTED, retireAuthorities: true },
    now: 20,
    plan: ['keep', 'keep'],
    retired: ['old'],
  },
  {
    title: 'not while its certificate is the one that is served',
    found: OVERLAP,
    wanted: { ...WANTED, retireAuthorities: true },
    now: 5,
    plan: ['keep', 'wait'],
  },
] as {
  title: string
  found?: FoundCertificates
  wanted?: WantedCertificates
  now?: number
  plan: [string, string]
  retired?: string[]
}[]) {
  t.test(`plan: ${title}`, async (t) => {
    const { authority, serving, retired } = planCertificates(found, wanted, now)
    t.strictSame([authority.do, serving.do, retired], [...plan, expected])
  })
}

// ---- a long life ----

interface Life {
  files: CertificateFiles
  writes: number
  keeper: CertificateKeeper
}

function keptInMemory(): Life {
  const life: Life = {
    files: {},
    writes: 0,
    keeper: {
      place: 'memory',
      read: async () => ({ ...life.files }),
      async write(files) {
        life.files = { ...files }
        life.writes += 1
      },
    },
  }
  return life
}

function renewalOf(keeper: CertificateKeeper, more: Partial<CertificateRenewal> = {}): CertificateRenewal {
  const wanted = { ...WANTED, hosts: ['function.example.com'], settleMs: 3_600_000 }
  return { keeper, wanted, servingMs: 365 * DAY, authorityMs: 3_650 * DAY, now: START, signal, ...more }
}

async function run(renewal: CertificateRenewal) {
  const look = await lookAtCertificates(renewal)
  await renewCertificates(renewal, look)
  return look.plan
}

/** As TLS does it: valid now, and signed by one of the bundle. */
function isTrusted(certPem: string, bundle: string, now: number): boolean {
  const certificate = new X509Certificate(certPem)
  const isValid = (each: X509Certificate) => Date.parse(each.validFrom) <= now && now <= Date.parse(each.validTo)
  return (
    isValid(certificate) &&
    splitBundle(bundle)
      .map(({ pem }) => new X509Certificate(pem))
      .some(
        (authority) =>
          isValid(authority) && certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
      )
  )
}

t.test(
  'run every ten days for forty years: who trusts the bundle before trusts the certificate after, and the other way round',
  async (t) => {
    const life = keptInMemory()
    const seen = { authorities: new Set<string>(), certificates: new Set<string>(), longestBundle: 0, distrust: 0 }
    await run(renewalOf(life.keeper))
    let before = life.files
    for (let day = 1; day <= 40 * 365; day += 10) {
      const now = START + day * DAY
      await run(renewalOf(life.keeper, { now }))
      const after = life.files
      const pairs = [
        [before, after],
        [after, before],
        [after, after],
      ] as const
      for (const [trusting, serving] of after === before ? pairs.slice(2) : pairs)
        if (!isTrusted(serving['tls.crt'] ?? '', trusting['ca.crt'] ?? '', now)) seen.distrust += 1
      if (after !== before) {
        const bundle = splitBundle(after['ca.crt'] ?? '')
        for (const { fingerprint } of bundle) seen.authorities.add(fingerprint)
        seen.certificates.add(after['tls.crt'] ?? '')
        seen.longestBundle = Math.max(seen.longestBundle, bundle.length)
      }
      before = after
    }
    t.equal(seen.distrust, 0)
    t.equal(seen.longestBundle, 2)
    t.equal(seen.authorities.size, 6, 'one every six years and eight months')
    t.ok(seen.certificates.size > 55 && seen.certificates.size < 66, `one every 8 months: ${seen.certificates.size}`)
    t.ok(life.writes < 90, `nothing is written while nothing is due: ${life.writes} writes in 1,460 runs`)
  },
)

t.test('an authority that is opened again signs as before, under whatever name', async (t) => {
  const first = await createCertificateAuthority(START, `an authority, O="with" = signs ${'x'.repeat(80)}`)
  const again = await openCertificateAuthority({ certPem: first.caPem, keyPem: first.keyPem }, START)
  const { certPem, keyPem } = await again.issueServingCertificate([
    'a.example.com',
    '*.b.example.com',
    '10.0.0.1',
    'fd00::1',
  ])
  t.ok(isTrusted(certPem, first.caPem, START))
  t.match(describeCertificate(certPem, START), {
    hosts: ['a.example.com', '*.b.example.com', '10.0.0.1', 'fd00::1'],
    daysLeft: 364,
  })
  const { ca, keyUsage, publicKey, serialNumber } = new X509Certificate(certPem)
  t.strictSame(
    [ca, keyUsage, publicKey.asymmetricKeyDetails],
    [false, ['1.3.6.1.5.5.7.3.1'], { namedCurve: 'prime256v1' }],
  )
  t.match(serialNumber, /^[4-7][0-9A-F]{31}$/)
  t.match(keyPem, /^-----BEGIN PRIVATE KEY-----/)
})

// ---- caBundle ----

const URL_OF_OURS = 'https://function.example.com'
const FOREIGN = {
  name: 'validate.example.com',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { url: 'https://other.example.com', caBundle: Buffer.from('old').toString('base64') },
}

function ourConfigurations(): KubernetesObject[] {
  return webhookConfigurations({ url: URL_OF_OURS, caPem: undefined, finalizer: 'example.com/x' })
}

function foreignConfiguration(): WebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'another' },
    webhooks: [{ ...FOREIGN, name: 'notify.webhook-cloud-provider.dev' }, FOREIGN],
  }
}

function clusterWith(objects: KubernetesObject[]) {
  const core = createControlPlaneCore({ clock: createManualClock(START), uid: () => 'uid', nameSuffix: () => 'x' })
  core.preload(objects as never)
  const writes: string[] = []
  const store = createLocalClusterStore(core, 'wcp-certs')
  const counted: ClusterStore = {
    ...store,
    patch(key, patch, options) {
      writes.push(`${key.kind}/${key.name}`)
      return store.patch(key, patch, options)
    },
  }
  const read = (plural: string, name: string) =>
    core.get({ group: 'admissionregistration.k8s.io', version: 'v1', plural, name }) as unknown as WebhookConfiguration
  return { core, store: counted, writes, read }
}

const bundlesOf = (configuration: WebhookConfiguration) =>
  configuration.webhooks?.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()) ?? []

t.test('only webhooks of ours, by name, in configurations of ours get the bundle; once', async (t) => {
  const [mutating, validating] = ourConfigurations() as [WebhookConfiguration, WebhookConfiguration]
  const objects = [
    mutating,
    { ...validating, webhooks: [FOREIGN, ...(validating.webhooks ?? [])] },
    foreignConfiguration(),
  ]
  const cluster = clusterWith(objects)
  const { keeper, ...life } = keptInMemory()
  const renewal = async () =>
    renewalOf(keeper, { bundles: await findBundles(cluster.store, ['webhook-cloud-provider'], signal) })
  const before = cluster.read('validatingwebhookconfigurations', 'another')
  const first = await renewal()
  await renewCertificates(first, await lookAtCertificates(first))
  const bundle = (await keeper.read(signal))['ca.crt']
  t.ok(bundle)
  t.strictSame(bundlesOf(cluster.read('mutatingwebhookconfigurations', 'webhook-cloud-provider')), [bundle])
  const [others, ...ours] = bundlesOf(cluster.read('validatingwebhookconfigurations', 'webhook-cloud-provider'))
  t.equal(others, 'old')
  t.strictSame(new Set(ours), new Set([bundle]))
  t.strictSame(cluster.read('validatingwebhookconfigurations', 'another'), before)
  t.equal(life.files['tls.crt'], undefined)

  cluster.writes.length = 0
  const second = await renewal()
  await renewCertificates(second, await lookAtCertificates(second))
  t.strictSame(cluster.writes, [], 'nothing is written twice')
})

t.test('a list of webhooks that is reordered meanwhile is read again, and no other webhook is hit', async (t) => {
  const [, validating] = ourConfigurations() as [WebhookConfiguration, WebhookConfiguration]
  const found = { ...validating, webhooks: [...(validating.webhooks ?? []).slice(0, 1), FOREIGN] }
  const cluster = clusterWith([found])
  const bundles = await findBundles(cluster.store, ['webhook-cloud-provider'], signal)
  const target = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    name: 'webhook-cloud-provider',
  }
  const body = { webhooks: found.webhooks.toReversed() }
  await cluster.core.patch(
    target,
    { type: 'merge', body: body as never },
    { user: { username: 'somebody', groups: [] } },
  )
  const { keeper } = keptInMemory()
  const renewal = renewalOf(keeper, { bundles })
  await renewCertificates(renewal, await lookAtCertificates(renewal))
  const bundle = (await keeper.read(signal))['ca.crt']
  t.strictSame(bundlesOf(cluster.read('validatingwebhookconfigurations', 'webhook-cloud-provider')), ['old', bundle])
  t.equal(cluster.writes.length, 2, 'one was refused')
})

t.test('the webhooks of a cloud controller manager are ours too, and cert-manager’s are left to it', async (t) => {
  const at = { service: { namespace: 'kube-system', name: 'ccm', port: 443 } }
  for (const configuration of cloudWebhookConfigurations({ at, caPem: undefined }) as WebhookConfiguration[])
    t.equal(caBundlePatch(configuration, 'bmV3').length, 2 * (configuration.webhooks?.length ?? 0))
  const [mutating] = ourConfigurations()
  const annotations = { 'cert-manager.io/inject-ca-from': 'ns/certificate' }
  const { store } = clusterWith([
    { ...mutating, metadata: { name: 'webhook-cloud-provider', annotations } } as KubernetesObject,
  ])
  await t.rejects(findBundles(store, ['webhook-cloud-provider'], signal), {
    code: 'CertificateInvalid',
    message: /cert-manager keeps/,
  })
})

t.test('a certificate of a new authority is not served while the bundle cannot be made known', async (t) => {
  const cluster = clusterWith(ourConfigurations())
  const { keeper } = keptInMemory()
  const names = ['webhook-cloud-provider']
  const at = async (days: number, store: ClusterStore = cluster.store, more = {}) =>
    renewalOf(keeper, { now: START + days * DAY, bundles: await findBundles(store, names, signal), ...more })
  await run(await at(0))
  const served = (await keeper.read(signal))['tls.crt']
  const asked = { wanted: { ...WANTED, hosts: ['function.example.com'], renewAuthority: true } }
  const failing: ClusterStore = { ...cluster.store, patch: () => Promise.reject(new Error('the API server is away')) }
  await t.rejects(run(await at(1, failing, asked)), /is away/)
  t.equal((await keeper.read(signal))['tls.crt'], served)
  t.equal(splitBundle((await keeper.read(signal))['ca.crt'] ?? '').length, 2, 'the new authority is not lost')

  t.match(await run(await at(2)), { serving: { do: 'wait', reason: /not in every caBundle/ } })
  t.match(await run(await at(3)), { serving: { do: 'issue' } })
  t.not((await keeper.read(signal))['tls.crt'], served)

  // Its only host is another now, and its authority another too: what serves nobody waits for nothing but the bundle.
  await t.rejects(run(await at(4, failing, { wanted: { ...asked.wanted, hosts: ['moved.example.com'] } })), /is away/)
  t.strictSame(describeCertificate((await keeper.read(signal))['tls.crt'] ?? '', START).hosts, ['function.example.com'])
})

// ---- the command ----

function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'certs-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const HOSTS = ['--host', 'Function.example.com', '--host', '[FD00:0::1]']

t.test('certs --directory: files that fit each other, keys for their owner alone; once more, nothing', async (t) => {
  const folder = join(temporaryFolder(t), 'certificates')
  const certs = (...args: string[]) => wcp(['certs', ...HOSTS, '--directory', folder, ...args])
  const files = () =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
  t.match(await certs('--check'), { code: 1, out: /^authority is to be made: there is none$/m })
  t.match(await certs('--dry-run'), { code: 0, out: /^serving certificate is to be issued/m })
  t.throws(() => readdirSync(folder), 'nothing was written')

  const { code, out, err } = await certs()
  t.strictSame([code, err], [0, ''])
  t.match(out, /^serving certificate: for function\.example\.com, fd00::1, 364 days left, until \d{4}-/m)
  t.match(out, /^authority: 3649 days left/m)
  const made = files()
  t.strictSame(Object.keys(made).sort(), ['ca.crt', 'ca.key', 'issued.crt', 'tls.crt', 'tls.key'])
  for (const name of Object.keys(made))
    t.equal(statSync(join(folder, name)).mode & 0o777, name.endsWith('.key') ? 0o600 : 0o644, name)
  t.ok(isTrusted(made['tls.crt'] ?? '', made['ca.crt'] ?? '', Date.now()))
  t.ok(new X509Certificate(made['tls.crt'] ?? '').checkHost('function.example.com'))

  t.match(await certs(), { code: 0 })
  t.strictSame(files(), made)
  t.match(await certs('--check'), { code: 0 })

  writeFileSync(join(folder, '.ca.key.of-a-run-that-was-killed'), 'key')
  t.match(await certs('--renew'), { code: 0, out: /serving certificate is issued: it was asked for/ })
  t.not(files()['tls.crt'], made['tls.crt'])
  t.equal(files()['ca.crt'], made['ca.crt'])
  t.equal(Object.keys(files()).length, 5, 'what a killed run left is gone')

  const renewed = await certs('--renew-authority')
  t.match(renewed, { code: 0, out: /^serving certificate waits for a later run: /m })
  t.match(renewed, { out: /^old authority: /m })
  t.match(await certs('--check'), { code: 0, out: /not known long enough/ })
  t.match(await certs('--settle', '0', '--check'), { code: 1, out: /to be issued: its authority is on its way out/ })
  t.match(await certs('--settle', '0'), { code: 0, out: /is issued/ })
  t.match(await certs('--retire-authorities'), { code: 0, out: /^old authorities leave the bundle: 1$/m })
  t.equal(splitBundle(files()['ca.crt'] ?? '').length, 1)

  const everything = [code, out, err, renewed.out].join('')
  const secrets = [made['ca.key'], made['tls.key']].map((key) => key?.split('\n')[1] ?? 'none')
  for (const secret of secrets) t.notOk(everything.includes(secret))
})

t.test('certs --directory: what a run that was killed in between left is put right', async (t) => {
  const folder = temporaryFolder(t)
  const other = temporaryFolder(t)
  const certs = (directory: string) => wcp(['certs', ...HOSTS, '--directory', directory])
  await certs(folder)
  await certs(other)
  const read = (from: string, name: string) => readFileSync(join(from, name), 'utf8')
  writeFileSync(join(folder, 'tls.key'), read(other, 'tls.key'))
  t.match(await certs(folder), { code: 0, out: /is issued: there is none, or its key is not there/ })
  writeFileSync(join(folder, 'ca.key'), read(other, 'ca.key'))
  t.match(await certs(folder), { code: 0, out: /authority is made: its key is not there/ })
  t.equal(splitBundle(read(folder, 'ca.crt')).length, 2, 'what is served is still trusted')
  t.ok(isTrusted(read(folder, 'tls.crt'), read(folder, 'ca.crt'), Date.now()))
})

t.test('certs refuses what it cannot keep, and says what to do', async (t) => {
  const folder = temporaryFolder(t)
  const foreign = temporaryFolder(t)
  const authority = await createCertificateAuthority(Date.now(), 'another')
  writeFileSync(join(foreign, 'tls.crt'), authority.caPem)
  const broken = temporaryFolder(t)
  writeFileSync(join(broken, 'ca.crt'), 'hello')
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const to = ['--directory', folder]
  for (const { args, says } of [
    { args: to, says: /^certs: give the host/ },
    {
      args: [...to, '--host', 'https://a.example.com:8443/x'],
      says: /neither a DNS name nor an IP address; leave out scheme/,
    },
    { args: [...to, '--host', '300.1.1.1'], says: /neither a DNS name nor an IP address/ },
    { args: HOSTS, says: /either --directory or --secret$/ },
    { args: [...HOSTS, ...to, '--secret', 'a/b'], says: /either --directory or --secret$/ },
    { args: [...HOSTS, '--secret', 'name'], says: /"name" is not NAMESPACE\/NAME$/ },
    { args: [...HOSTS, ...to, '--days', '0'], says: /--days: "0" is not a whole number from 1$/ },
    { args: [...HOSTS, ...to, '--days', '20', '--authority-days', '10'], says: /10 is less than the 20/ },
    { args: [...HOSTS, ...to, '--kubeconfig', 'x', '--in-cluster'], says: /either --kubeconfig or --in-cluster$/ },
    { args: [...HOSTS, '--secret', 'a/b'], says: /^KubeconfigInvalid: .*no ServiceAccount token is mounted here/ },
    { args: [...HOSTS, '--directory', foreign], says: /holds a certificate, and no authority of ours/ },
    { args: [...HOSTS, '--directory', broken], says: /ca\.crt holds something else than PEM certificates/ },
    { args: [...HOSTS, '--directory', join(file, 'below')], says: /cannot be read \(ENOTDIR\)$/ },
  ]) {
    const { code, err } = await wcp(['certs', ...args])
    t.equal(code, 2, args.join(' '))
    t.match(err, says)
  }
  t.match(await wcp(['certs', '--help']), { code: 0, out: /^usage: wcp certs --host HOST/ })
})

t.test('certs --secret: one Secret, written only when something is due; another’s is left alone', async (t) => {
  const clock = createManualClock(Date.now())
  const plane = await startLocalControlPlane({ clock, authority: await createCertificateAuthority(clock.now()) })
  t.teardown(() => plane.close())
  const kubeconfig = join(temporaryFolder(t), 'kubeconfig')
  writeFileSync(kubeconfig, plane.kubeconfig, { mode: 0o600 })
  plane.core.preload([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'wcp' } },
    ...ourConfigurations(),
    foreignConfiguration(),
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'theirs', namespace: 'wcp' }, data: { 'tls.crt': 'eA==' } },
  ] as never)
  const certs = (...args: string[]) => wcp(['certs', ...HOSTS, '--secret-kubeconfig', kubeconfig, ...args])
  const secretNamed = (name: string) =>
    plane.core.get({ group: '', version: 'v1', plural: 'secrets', namespace: 'wcp', name })
  const both = ['--secret', 'wcp/serving', '--kubeconfig', kubeconfig]

  t.match(await certs(...both, '--check'), { code: 1 })
  t.match(await certs(...both), {
    code: 0,
    out: /caBundle of MutatingWebhookConfiguration\/\/webhook-cloud-provider: 1 replaced/,
  })
  const made = secretNamed('serving')
  t.match(made, {
    type: 'kubernetes.io/tls',
    metadata: { labels: { 'app.kubernetes.io/managed-by': 'webhook-cloud-provider' } },
  })
  t.strictSame(Object.keys(made['data'] as object).sort(), ['ca.crt', 'ca.key', 'issued.crt', 'tls.crt', 'tls.key'])
  const { code, out } = await certs(...both, '--check')
  t.equal(code, 0, out)
  t.match(out, /caBundle of ValidatingWebhookConfiguration\/\/webhook-cloud-provider: up to date/)
  await certs(...both)
  t.equal(secretNamed('serving').metadata.resourceVersion, made.metadata.resourceVersion, 'nothing is written')
  await certs(...both, '--renew')
  t.not(secretNamed('serving').metadata.resourceVersion, made.metadata.resourceVersion)

  t.match(await certs('--secret', 'wcp/theirs'), {
    code: 2,
    err: /Secret\/wcp\/theirs: holds something that wcp certs did not make/,
  })
  t.match(await certs(...both, '--configuration', 'typo'), {
    code: 1,
    err: /no webhook configuration is named typo: apply the manifests/,
  })
})

t.test('a Secret that somebody else wrote meanwhile is not overwritten', async (t) => {
  const core = createControlPlaneCore({
    clock: createManualClock(START),
    uid: () => 'uid',
    nameSuffix: () => 'x',
    namespaces: ['wcp'],
  })
  const store = createLocalClusterStore(core, 'certs')
  const open = () => createCertificateSecret(store, { namespace: 'wcp', name: 'serving' })
  const [one, other] = [open(), open()]
  await one.read(signal)
  await one.write({ 'ca.crt': 'first' }, signal)
  await other.read(signal)
  await one.write({ 'ca.crt': 'second' }, signal)
  await t.rejects(other.write({ 'ca.crt': 'third' }, signal), {
    code: 'Conflict',
    message: /written by somebody else/,
  })
  t.strictSame(await other.read(signal), { 'ca.crt': 'second' })
})
