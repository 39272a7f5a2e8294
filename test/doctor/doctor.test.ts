import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Validity } from '../../src/adapters/certificates/certificate-authority.ts'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { gatherFacts } from '../../src/compose/doctor/gather-facts.ts'
import { type CheckName, diagnose } from '../../src/domain/doctor/diagnose.ts'
import type { State } from '../../src/domain/doctor/examination.ts'
import type { Facts } from '../../src/domain/doctor/facts.ts'
import { wcp } from '../support/command-line.ts'
import {
  CLASSES,
  type ExaminedInstallation,
  startExaminedInstallation,
  WEBHOOKS,
} from '../support/examined-installation.ts'

// The doctor at the bedside: a function, an API server that calls it, and what goes wrong with them.

async function healthy(
  t: Test,
  validity: Partial<Validity> = {},
  controlPlane?: 'kubernetes',
): Promise<ExaminedInstallation> {
  const installation = await startExaminedInstallation(validity, controlPlane)
  t.teardown(() => installation.close())
  return installation
}

async function states(
  installation: ExaminedInstallation,
  changes: object = {},
  aheadMs = 0,
): Promise<Partial<Record<CheckName, State>>> {
  const { clock, ...options } = await installation.options(changes)
  const ahead = { ...clock, now: () => clock.now() + aheadMs }
  const { checks } = diagnose(await gatherFacts({ ...options, clock: ahead }))
  return Object.fromEntries(checks.map(({ name, state }) => [name, state]))
}

t.test('a healthy installation is green, and nothing is left of having asked', async (t) => {
  const installation = await healthy(t)
  await installation.sweep()
  const facts = await gatherFacts(await installation.options())
  const { checks } = diagnose(facts)
  for (const { name, state, problems } of checks) t.equal(state, 'green', `${name}: ${JSON.stringify(problems)}`)
  t.equal(checks.length, 16)
  const again = await gatherFacts(await installation.options())
  const reviews = (from: Facts, result: string) =>
    from.metrics.known
      ? from.metrics.value.split('\n').filter((line) => /door="notify"/.test(line) && line.includes(`"${result}"`))
      : []
  t.match(reviews(again, 'ignored'), [/ [1-9]\d*$/], 'the notify door was asked …')
  t.strictSame(reviews(again, 'queued'), reviews(facts, 'queued'), '… and queued nothing')
  t.match(facts.unfinished, { value: [] }, 'nothing is stored')
})

t.test('what is broken in the world is told by the check it concerns', async (t) => {
  const { caPem: other } = await createCertificateAuthority(Date.now(), 'other')
  const withClient =
    (change: object) =>
    async ({ url, edit }: ExaminedInstallation) => {
      const clientConfig = { url: `${url}/a-secret-segment/admission/mutate`, ...change }
      // A merge patch replaces the list; the name alone ties it to what is expected.
      await edit(WEBHOOKS('mutating'), {
        webhooks: [
          {
            name: 'mutate.webhook-cloud-provider.dev',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            failurePolicy: 'Ignore',
            clientConfig,
          },
        ],
      })
    }
  const cases: {
    title: string
    breaks?: (installation: ExaminedInstallation) => Promise<void>
    /** Of what the doctor reads. */
    config?: object
    red: CheckName[]
  }[] = [
    {
      title: 'a CustomResourceDefinition is removed',
      breaks: ({ remove }) =>
        remove({
          group: 'apiextensions.k8s.io',
          version: 'v1',
          plural: 'customresourcedefinitions',
          name: 'remedies.remedy.karmada.io',
        }),
      red: ['api'],
    },
    {
      title: 'a configuration is removed',
      breaks: ({ remove }) => remove(WEBHOOKS('validating')),
      red: ['webhooks', 'dry-run'],
    },
    {
      title: 'another authority',
      breaks: withClient({ caBundle: Buffer.from(other).toString('base64') }),
      red: ['webhooks', 'ca-bundle', 'dry-run'],
    },
    {
      title: 'a bundle that is none',
      breaks: withClient({ caBundle: Buffer.from('no certificate').toString('base64') }),
      red: ['ca-bundle', 'dry-run'],
    },
    {
      title: 'a name that the certificate has not',
      breaks: async (installation) => {
        const url = `${installation.url.replace('127.0.0.1', 'localhost')}/a-secret-segment/admission/mutate`
        await withClient({ url })(installation)
      },
      red: ['url', 'dry-run'],
    },
    {
      title: 'a host that does not exist',
      breaks: withClient({ url: 'https://function.invalid/admission/mutate' }),
      red: ['webhooks', 'dry-run'],
    },
    {
      title: 'the function is stopped',
      breaks: ({ stopFunction }) => stopFunction(),
      red: ['reachability', 'dry-run'],
    },
    {
      title: 'Karmada’s webhooks are stopped',
      breaks: ({ stopKarmada }) => stopKarmada(),
      red: ['dry-run', 'karmada-webhooks'],
    },
    {
      title: 'no class of ours',
      breaks: ({ remove }) => remove({ ...CLASSES, name: 'fake' }),
      red: ['ingress-class'],
    },
    {
      title: 'the function runs with another finalizer',
      config: { finalizer: 'example.com/other' },
      red: ['dry-run'],
    },
    {
      title: 'the function runs with another path prefix',
      config: { server: { pathPrefix: '/another' } },
      red: ['authentication'],
    },
    { title: 'the function writes as another', config: { identity: 'system:serviceaccount:a:b' }, red: ['identity'] },
    {
      title: 'a provider of no use here',
      config: { provider: { name: 'example' }, controlPlane: 'karmada' },
      red: ['provider'],
    },
  ]
  for (const { title, breaks, config = {}, red } of cases)
    await t.test(title, async (t) => {
      const installation = await healthy(t)
      await breaks?.(installation)
      const found = await states(installation, config)
      for (const check of red) t.equal(found[check], 'red', check)
    })
})

t.test('a proxy that cannot be reached, and one that never answers', async (t) => {
  const installation = await healthy(t)
  t.equal((await states(installation)).provider, 'green')
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const caddy = (admin: string) => ({
    provider: { name: 'caddy', options: { admin, addresses: ['192.0.2.1'], adminTimeoutMs: 300 } },
    finalizer: 'webhook-cloud-provider.dev/fake',
    ingressClass: { controller: 'webhook-cloud-provider.dev/fake', names: ['fake'], default: true },
  })
  for (const [admin, says] of [
    ['http://127.0.0.1:1', /admin endpoint of Caddy at http:\/\/127\.0\.0\.1:1 /],
    [`http://127.0.0.1:${port}`, /admin endpoint of Caddy/],
  ] as const) {
    const { checks } = diagnose(await gatherFacts(await installation.options(caddy(admin))))
    const check = checks.find(({ name }) => name === 'provider')
    t.equal(check?.state, 'yellow', 'the operator is elsewhere')
    t.match(check?.problems, [{ message: says, remedy: /What serves goes on/ }])
  }
})

t.test('a certificate that is nearly over', async (t) => {
  const hour = 3_600_000
  const installation = await healthy(t, {
    notBefore: new Date(Date.now() - 100 * hour),
    notAfter: new Date(Date.now() + hour),
  })
  t.equal((await states(installation)).certificate, 'red')
})

t.test('objects that cannot go, and objects that are not served', async (t) => {
  const installation = await healthy(t)
  await installation.stopFunction()
  const target = {
    group: 'networking.karmada.io',
    version: 'v1alpha1',
    plural: 'multiclusteringresses',
    namespace: 'default',
  }
  const ingress = (name: string, finalizers: string[]) => ({
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name, namespace: 'default', finalizers },
    spec: { ingressClassName: 'fake', defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  })
  await installation.create(target, ingress('waits', []))
  const anHour = 3_600_000
  t.equal((await states(installation)).objects, 'green', 'at first')
  t.equal((await states(installation, {}, anHour)).objects, 'yellow')
  await installation.create(target, ingress('stays', ['webhook-cloud-provider.dev/fake']))
  await installation.remove({ ...target, name: 'stays' })
  t.equal((await states(installation, {}, anHour)).objects, 'red')
})

t.test('on the command line', async (t) => {
  const installation = await healthy(t)
  const config = installation.configFile()
  const doctor = (...args: string[]) =>
    wcp(['doctor', '--config', config, '--kubeconfig', installation.kubeconfig, ...args])

  const { code, out, err } = await doctor()
  t.match({ code, err }, { code: 0, err: '' })
  t.match(out, /^green {3}api +API server v1\.[\s\S]*\n\nyellow: 15 green, 1 yellow, 0 red$/, 'but for the sweep')
  t.notMatch(out, /secret-segment/, 'the path prefix is a secret')

  const json = await doctor('-o', 'json')
  t.notMatch(json.out, /secret-segment|Bearer|hush/)
  const { version, state, checks } = JSON.parse(json.out)
  t.match({ version, state }, { version: 1, state: 'yellow' })
  for (const check of checks)
    t.match(check, { name: /^[a-z-]+$/, state: /^(green|yellow|red)$/, summary: String, problems: Array })
  t.equal((await doctor('--strict')).code, 1, 'yellow is enough with --strict')

  await installation.remove(WEBHOOKS('validating'))
  const broken = await doctor()
  t.equal(broken.code, 1)
  t.match(broken.out, /red: notify\.webhook-cloud-provider\.dev is not registered\n +→ register it anew/)
})

t.test('each door is asked with its own token, and without', async (t) => {
  const installation = await healthy(t)
  const { directory } = installation
  const file = (name: string) => join(directory, name)
  writeFileSync(file('another-token'), 'hush-hush-of-nobody')
  const elsewhere = (door: string) => [door, { tokenFile: '/where/the/function/runs' }]
  const config = (callers: object) => ['--config', installation.configFile({ callers })]
  const lent = (...files: string[]) => files.flatMap((each) => ['--token-file', each])
  const notHere = config(Object.fromEntries(['events', 'sweep', 'metrics'].map(elsewhere)))
  const eachToItsDoor = ['events', 'sweep', 'metrics'].map((door) => `${door}=${file(`${door}-token`)}`)
  for (const { title, args, is, says } of [
    {
      title: 'the tokens are where the function runs',
      args: notHere,
      is: 'yellow',
      says: /not known whether the sweep door takes its callers.*\n.*--token-file sweep=FILE/,
    },
    {
      title: 'and are given to the doctor',
      args: [...notHere, ...lent(...eachToItsDoor)],
      is: 'green',
      says: /green {3}authentication +path prefix; events by token; sweep by token; metrics by token\n/,
    },
    {
      title: 'one for all of them',
      args: [...notHere, ...lent(file('sweep-token'))],
      is: 'yellow',
      says: /the token of --token-file is not one of the events door \(401\)/,
    },
    {
      title: 'the function knows other tokens',
      args: config({ sweep: { tokenFile: file('another-token') } }),
      is: 'red',
      says: /the sweep door answers 401 to the token of callers\.sweep\.tokenFile/,
    },
    {
      title: 'the function asks for none',
      args: config({ admission: { tokenFile: file('another-token') } }),
      is: 'red',
      says: /the admission door takes a request without the credential \(200\)/,
    },
  ])
    await t.test(title, async (t) => {
      const { out, err } = await wcp(['doctor', ...args, '--kubeconfig', installation.kubeconfig])
      t.equal(err, '')
      t.match(out, new RegExp(`^${is} +authentication `, 'm'))
      t.match(out, says)
      t.notMatch(out, /hush/, 'no token is shown')
    })
})

t.test('the last sweep, by the metrics of the function', async (t) => {
  const installation = await healthy(t)
  const minute = 60_000
  const lastSweep = async (aheadMs: number) => (await states(installation, {}, aheadMs))['last-sweep']
  t.equal(await lastSweep(0), 'yellow', 'none yet')
  await installation.sweep()
  t.equal(await lastSweep(0), 'green')
  t.equal(await lastSweep(11 * minute), 'yellow')
  t.equal(await lastSweep(31 * minute), 'red')
})

t.test('under one cluster', async (t) => {
  const installation = await healthy(t, {}, 'kubernetes')
  await installation.sweep()
  const { checks } = diagnose(await gatherFacts(await installation.options()))
  for (const { name, state, problems } of checks) t.equal(state, 'green', `${name}: ${JSON.stringify(problems)}`)
  t.match(checks.find(({ name }) => name === 'dry-run')?.summary, /mutate, validate, notify$/)
  await installation.remove(WEBHOOKS('mutating'))
  t.match(await states(installation), { webhooks: 'red', 'dry-run': 'red' })
})

t.test('where the function’s credentials are not, the operator asks in its name', async (t) => {
  const installation = await healthy(t)
  const found = await states(installation, { kubernetes: { kubeconfig: '/no/such/kubeconfig' } })
  // The local control plane knows no impersonation, and says who really asks.
  t.match(found, { rbac: 'green', identity: 'red' })
})

t.test('a provider of another program', async (t) => {
  const installation = await healthy(t)
  const config = installation.configFile({
    provider: { name: 'acme' },
    finalizer: 'webhook-cloud-provider.dev/fake',
    ingressClass: { controller: 'webhook-cloud-provider.dev/fake', names: ['fake'], default: true },
  })
  const { out, code } = await wcp(['doctor', '--config', config, '--kubeconfig', installation.kubeconfig])
  t.equal(code, 0, out)
  t.match(out, /not known: provider acme is not part of this program/)
})

t.test('what is wrong on the command line', async (t) => {
  for (const { args, says } of [
    { args: [], says: /^doctor: give the configuration file/ },
    { args: ['-o', 'yaml'], says: /^--output: "yaml" is not text or json$/ },
    { args: ['--url', 'here'], says: /^--url: "here" is not/ },
    { args: ['--config', '/no/file'], says: /^ConfigurationInvalid: / },
  ])
    t.match(await wcp(['doctor', ...args]), { code: 2, out: '', err: says })
})
