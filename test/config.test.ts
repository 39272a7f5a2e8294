import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createCertificateAuthority } from '../src/adapters/certificates/certificate-authority.ts'
import { createPinoLogger } from '../src/adapters/logging/pino-logger.ts'
import { loadSettings, readConfigFile } from '../src/compose/load-settings.ts'
import type { ConfigEnvironment } from '../src/config/parse-config.ts'
import { parseConfig } from '../src/config/parse-config.ts'
import { loadServingCertificate } from '../src/config/serving-certificate.ts'
import { createProviderRegistry } from '../src/provider/registry.ts'
import { createFakeProvider, fakeProviderFactory } from '../src/providers/fake/fake-provider.ts'
import { createManualClock } from './support/manual-clock.ts'
import { silentLogger } from './support/silent-logger.ts'

const SECRET = 's3cret-of-the-cloud'

/** The smallest configuration, with these settings instead. */
function buildConfig(overrides: object = {}): string {
  const usual = { provider: { name: 'fake' }, kubernetes: { kubeconfig: '/etc/kubeconfig' }, callers: { anyone: true } }
  return JSON.stringify({ ...usual, ...overrides })
}

function parsed(text: string, environment: ConfigEnvironment = {}) {
  const { config, faults } = parseConfig(text, environment)
  if (config === undefined) throw new Error(faults.map(({ field, message }) => `${field}: ${message}`).join('\n'))
  return config
}

/** `field: message`, each fault once. */
function faultsOf(text: string, environment: ConfigEnvironment = {}): string[] {
  return parseConfig(text, environment).faults.map(({ field, message }) => `${field}: ${message}`)
}

t.test('the smallest configuration, and what it leaves to us', async (t) => {
  t.match(parsed('provider: { name: fake }\nkubernetes: { inCluster: true }'), {
    clusterId: 'default',
    provider: { name: 'fake', options: {} },
    finalizer: 'webhook-cloud-provider.dev/fake',
    ingressClass: { controller: 'webhook-cloud-provider.dev/fake', names: [], default: false },
    multiClusterServices: { selector: {} },
    identity: undefined,
    kubernetes: { inCluster: true, kubeconfig: undefined, timeoutMs: 10_000 },
    server: { host: '0.0.0.0', port: 8443, pathPrefix: undefined, tls: undefined },
    queue: { kind: 'memory', concurrency: 8, capacity: 10_000 },
    lock: 'none',
    work: { deadlineMs: 60_000, providerDeadlineMs: 45_000 },
    backends: { networks: undefined, failOpen: false, graceMs: 15_000 },
    takeOver: false,
    sweep: { pageSize: 500, concurrency: 8, deadlineMs: 50_000 },
    shutdown: { drainMs: 25_000 },
    log: { level: 'info' },
  })
})

t.test('settings are taken as they are written', async (t) => {
  const settings = {
    clusterId: 'eu-1',
    provider: { name: 'fake', options: { delayMs: 5, nested: { list: [1] } } },
    finalizer: 'example.com/mine',
    ingressClass: { controller: 'example.com/other', names: ['multicloud'], default: true },
    multiClusterServices: {
      selector: {
        matchLabels: { 'example.com/team': 'web' },
        matchExpressions: [
          { key: 'tier', operator: 'In', values: ['a'] },
          { key: 'old', operator: 'DoesNotExist' },
        ],
      },
    },
    identity: 'system:serviceaccount:a:b',
    kubernetes: { kubeconfig: '/etc/kubeconfig', context: 'karmada', timeoutMs: 5_000 },
    server: { host: '127.0.0.1', port: 0, pathPrefix: '/a/b', tls: { certFile: 'c', keyFile: 'k' } },
    queue: { kind: 'memory', concurrency: 1, capacity: 2 },
    work: { deadlineMs: 2, providerDeadlineMs: 1 },
    backends: { networks: ['10.0.0.0/8', '2001:db8::/32'], failOpen: true, graceMs: 0 },
    takeOver: true,
    sweep: { pageSize: 1, concurrency: 1, deadlineMs: 1 },
    shutdown: { drainMs: 1 },
    log: { level: 'debug' },
  }
  t.match(parsed(JSON.stringify(settings)), settings)
})

t.test('nothing of it can be changed afterwards', async (t) => {
  const config = parsed(buildConfig({ provider: { name: 'fake', options: { list: [{}] } } }))
  const frozen = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen))
  t.ok(frozen(config))
})

t.test('two readings of one text share nothing', async (t) => {
  const [one, other] = [parsed(buildConfig()), parsed(buildConfig())]
  t.strictSame(one, other)
  t.not(one.provider.options, other.provider.options)
})

t.test('what the platform says', async (t) => {
  const bare = JSON.stringify({ provider: { name: 'fake' } })
  t.equal(parsed(bare, { KUBECONFIG: '/home/kubeconfig' }).kubernetes.kubeconfig, '/home/kubeconfig')
  t.equal(parsed(buildConfig(), { KUBECONFIG: '/home/kubeconfig' }).kubernetes.kubeconfig, '/etc/kubeconfig')
  const inCluster = buildConfig({ kubernetes: { inCluster: true } })
  t.equal(parsed(inCluster, { KUBECONFIG: '/home/kubeconfig' }).kubernetes.kubeconfig, undefined)

  t.equal(parsed(buildConfig({ server: { port: 1 } }), { PORT: '8080' }).server.port, 8080)
  t.equal(parsed(buildConfig({ server: { port: 1 } }), { PORT: '' }).server.port, 1)
  t.equal(parsed(buildConfig({ server: { port: 1 } }), { PORT: '0' }).server.port, 0)
  for (const PORT of ['http', '-1', '80.5', ' 80', '65536', '99999', '0x50', '1e3']) {
    t.match(faultsOf(buildConfig(), { PORT }), [/^PORT: must be a port number from 0 to 65535/], PORT)
  }

  t.match(faultsOf(buildConfig(), { K_SERVICE: 'wcp' }), [/^queue\.kind: .*min-scale 1 and queue\.kind: memory$/])
  t.equal(parsed(buildConfig({ queue: { kind: 'memory' } }), { K_SERVICE: 'wcp' }).queue.kind, 'memory')
})

t.test('where traces go', async (t) => {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
  const inFile = (endpoint: unknown) => buildConfig({ telemetry: { traces: { endpoint } } })
  t.same(parsed(buildConfig()).telemetry, {}, 'nowhere, unless it is said')
  t.same(parsed(buildConfig(), environment).telemetry.traces, { endpoint: 'http://collector:4318', sampleRatio: 1 })
  t.same(
    parsed(buildConfig({ telemetry: { traces: { endpoint: 'https://other/x', sampleRatio: 0.1 } } }), environment)
      .telemetry.traces,
    { endpoint: 'https://other/x', sampleRatio: 0.1 },
    'the file goes before the environment',
  )
  const remedy = 'must be an http(s) URL without credentials, such as http://collector:4318'
  for (const wrong of ['collector:4318', 'grpc://collector:4317', 'http://', `https://me:${SECRET}@collector`]) {
    t.same(faultsOf(inFile(wrong)), [`telemetry.traces.endpoint: ${remedy}`], wrong)
    const named = { OTEL_EXPORTER_OTLP_ENDPOINT: wrong }
    t.same(faultsOf(buildConfig(), named), [`OTEL_EXPORTER_OTLP_ENDPOINT: ${remedy}`], wrong)
  }
  t.match(faultsOf(inFile(4318)), [/^telemetry.traces.endpoint: /])
})

t.test('what the platform allows', async (t) => {
  const lambda = { AWS_LAMBDA_FUNCTION_NAME: 'wcp' }
  const tls = { certFile: '/tls.crt', keyFile: '/tls.key' }
  const toSink = { queue: { kind: 'cloudevents', sink: 'http://broker/' } }
  const refused = /^queue\.kind: AWS Lambda freezes .*: set queue\.kind to cloudevents or jetstream$/
  t.match(faultsOf(buildConfig(), lambda), [refused])
  t.match(faultsOf(buildConfig({ queue: { kind: 'memory' } }), lambda), [refused])
  t.match(parsed(buildConfig(toSink), lambda), toSink)
  t.match(faultsOf(buildConfig({ ...toSink, server: { tls } }), { K_SERVICE: 'wcp' }), [/^server\.tls: must be absent/])
  t.match(parsed(buildConfig({ ...toSink, server: { tls } })), { server: { tls } })
})

t.test('a kubeconfig in a variable, where there are no files', async (t) => {
  const without = buildConfig({ kubernetes: {} })
  const WCP_KUBECONFIG_YAML = 'apiVersion: v1'
  t.match(parsed(without, { WCP_KUBECONFIG_YAML }).kubernetes, { kubeconfigText: WCP_KUBECONFIG_YAML })
  t.match(parsed(without, { WCP_KUBECONFIG_YAML, KUBECONFIG: '/k' }).kubernetes, {
    kubeconfigText: WCP_KUBECONFIG_YAML,
  })
  t.notOk(
    'kubeconfigText' in parsed(buildConfig({ kubernetes: { inCluster: true } }), { WCP_KUBECONFIG_YAML }).kubernetes,
  )
  const named = buildConfig({ kubernetes: { kubeconfig: '/k' } })
  t.strictSame(parsed(named, { WCP_KUBECONFIG_YAML }).kubernetes.kubeconfigText, undefined)
})

t.test('where work is kept, and who may write', async (t) => {
  t.match(parsed(buildConfig()), { queue: { kind: 'memory', servers: [] }, lock: 'none' })
  const jetstream = { kind: 'jetstream', servers: ['nats://nats:4222'] }
  t.match(parsed(buildConfig({ queue: jetstream })), {
    queue: { ...jetstream, concurrency: 8, replicas: 1, ackWaitMs: 30_000, maxDeliveries: 20 },
    lock: 'lease',
    lease: { namespace: 'webhook-cloud-provider', durationSeconds: 15, marginSeconds: 5 },
  })
  t.equal(parsed(buildConfig({ queue: jetstream, lock: 'none' })).lock, 'none')
  t.equal(parsed(buildConfig({ lock: 'lease' })).queue.kind, 'memory')
  const toSink = { queue: { kind: 'cloudevents' } }
  t.match(parsed(buildConfig(toSink), { K_SINK: 'http://broker/', K_SERVICE: 'wcp' }), { ...toSink, lock: 'lease' })
  t.equal(parsed(buildConfig({ queue: { ...toSink.queue, sink: 'http://broker/' } })).queue.sink, 'http://broker/')
  for (const [overrides, faults] of [
    [toSink, [/^queue\.sink: is required, here or in the variable K_SINK/]],
    [{ queue: { kind: 'jetstream' } }, [/^queue\.servers: is required/]],
    [{ queue: { ...jetstream, servers: [] } }, [/^queue\.servers: must NOT have fewer/]],
    [{ queue: { servers: ['a'] } }, [/^queue\.servers: is a setting of kind jetstream$/]],
    [{ queue: { ...jetstream, sink: 'http://broker/' } }, [/^queue\.sink: is a setting of kind cloudevents$/]],
    [{ queue: { caFile: 'ca.pem' } }, [/^queue\.caFile: is a setting of kind cloudevents and jetstream$/]],
    [{ queue: { ...jetstream, replicas: 2 } }, [/^queue\.replicas: must be one of: 1, 3, 5$/]],
    [{ queue: { ...jetstream, ackWaitMs: 20_000 } }, [/^queue\.ackWaitMs: must be more than .* 20000 ms$/]],
    [{ queue: jetstream, lease: { durationSeconds: 60 } }, [/^queue\.ackWaitMs: must be more than .* 65000 ms$/]],
    [{ lock: 'leases' }, [/^lock: must be one of: none, lease$/]],
  ] as const) {
    t.match(faultsOf(buildConfig(overrides)), faults, JSON.stringify(overrides))
  }
  t.same(faultsOf(buildConfig({ queue: { ...jetstream, ackWaitMs: 20_000 }, lock: 'none' })), [])
})

t.test('each fault names its field', async (t) => {
  const ofSelector = (matchExpressions: unknown) =>
    buildConfig({ multiClusterServices: { selector: { matchExpressions } } })
  for (const { text, faults } of [
    { text: '', faults: [/^provider: is required$/, /^kubernetes: set kubernetes\.kubeconfig/] },
    { text: 'just text', faults: [/^\(file\): must be object$/] },
    { text: '[1]', faults: [/^\(file\): must be object$/] },
    { text: buildConfig({ provider: {} }), faults: [/^provider\.name: is required$/] },
    { text: buildConfig({ provider: { name: '' } }), faults: [/^provider\.name: --cloud-provider cannot be empty/] },
    { text: buildConfig({ provider: 'fake' }), faults: [/^provider: must be object$/] },
    { text: buildConfig({ provider: { name: 'fake', options: [] } }), faults: [/^provider\.options: must be object$/] },
    { text: buildConfig({ sever: {} }), faults: [/^sever: is not a setting; check the spelling$/] },
    { text: buildConfig({ server: { prot: 1 } }), faults: [/^server\.prot: is not a setting/] },
    { text: buildConfig({ server: { port: 65_536 } }), faults: [/^server\.port: must be <= 65535$/] },
    { text: buildConfig({ server: { port: '8443' } }), faults: [/^server\.port: must be integer$/] },
    { text: buildConfig({ server: { port: 1.5 } }), faults: [/^server\.port: must be integer$/] },
    { text: buildConfig({ server: null }), faults: [/^server: must be object$/] },
    { text: buildConfig({ server: { pathPrefix: 'a' } }), faults: [/^server\.pathPrefix: must match pattern/] },
    {
      text: buildConfig({ server: { tls: {} } }),
      faults: [/^server\.tls\.certFile: is req/, /^server\.tls\.keyFile: is req/],
    },
    { text: buildConfig({ clusterId: 'Eu' }), faults: [/^clusterId: must match pattern/] },
    { text: buildConfig({ finalizer: 'mine' }), faults: [/^finalizer: must match pattern/] },
    { text: buildConfig({ queue: { kind: 'kafka' } }), faults: [/^queue\.kind: must be one of: memory/] },
    { text: buildConfig({ queue: { concurrency: 0 } }), faults: [/^queue\.concurrency: must be >= 1$/] },
    { text: buildConfig({ log: { level: 'loud' } }), faults: [/^log\.level: must be one of: debug, info/] },
    { text: buildConfig({ kubernetes: { inCluster: 'yes' } }), faults: [/^kubernetes\.inCluster: must be boolean$/] },
    {
      text: buildConfig({ backends: { networks: ['10.0.0.0/8', '10.0.0.0/33', SECRET] } }),
      faults: [/^backends\.networks\.1: is not a network such as/, /^backends\.networks\.2: is not a network/],
    },
    { text: buildConfig({ backends: { graceMs: -1 } }), faults: [/^backends\.graceMs: must be >= 0$/] },
    {
      text: buildConfig({ work: { deadlineMs: 45_000 } }),
      faults: [/^work\.providerDeadlineMs: must be shorter than/],
    },
    { text: buildConfig({ kubernetes: {} }), faults: [/^kubernetes: set kubernetes\.kubeconfig/] },
    {
      text: buildConfig({ kubernetes: { inCluster: true, kubeconfig: '/x' } }),
      faults: [/^kubernetes: kubeconfig and inCluster exclude each other$/],
    },
    { text: buildConfig({ kubernetes: { inCluster: true, context: 'x' } }), faults: [/^kubernetes\.context: /] },
    { text: buildConfig({ ingressClass: { default: true } }), faults: [/^ingressClass\.names: must name the class/] },
    { text: buildConfig({ ingressClass: { names: ['a', 'a'] } }), faults: [/^ingressClass\.names: must NOT have dup/] },
    {
      text: buildConfig({ multiClusterServices: { selector: { matchLabels: { 'example.com/a~b': 1 } } } }),
      faults: [/^multiClusterServices\.selector\.matchLabels\.example\.com\/a~b: must be string$/],
    },
    {
      text: ofSelector([{ key: 'a' }]),
      faults: [/^multiClusterServices\.selector\.matchExpressions\.0\.operator: is req/],
    },
    {
      text: ofSelector([{ key: 'a', operator: 'In' }]),
      faults: [/matchExpressions\.0\.values: must name at least one/],
    },
    {
      text: ofSelector([{ key: 'a', operator: 'NotIn', values: [] }]),
      faults: [/\.0\.values: must name at least one/],
    },
    { text: ofSelector([{ key: 'a', operator: 'Exists', values: ['b'] }]), faults: [/\.0\.values: must be absent/] },
    { text: ofSelector('all'), faults: [/^multiClusterServices\.selector\.matchExpressions: must be array$/] },
    {
      text: '{"provider":{"name":"fake"},"kubernetes":{"inCluster":true},"__proto__":{"a":1}}',
      faults: [/^__proto__: is not/],
    },
  ]) {
    t.match(faultsOf(text), faults, text)
    t.equal(faultsOf(text).length, faults.length, faultsOf(text).join(' | '))
  }
})

t.test('faults of every sort are told at once', async (t) => {
  const text = buildConfig({
    provider: { name: 'fake' },
    sever: {},
    server: { port: -1 },
    ingressClass: { default: true },
    kubernetes: { inCluster: true, kubeconfig: '/x' },
  })
  t.same(
    faultsOf(text, { PORT: 'x', K_SERVICE: 'wcp' })
      .map((fault) => fault.split(':')[0])
      .sort(),
    ['PORT', 'ingressClass.names', 'kubernetes', 'queue.kind', 'server.port', 'sever'],
  )
})

t.test('what is no YAML is told by its place, and shown to nobody', async (t) => {
  const warnings: unknown[] = []
  const note = (warning: unknown) => void warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => void process.off('warning', note))
  for (const { text, fault } of [
    {
      text: `provider:\n  options: { key: ${SECRET}\nx: 1`,
      fault: /^\(file\): is not valid YAML: line 3, column \d+$/,
    },
    { text: `a: ${SECRET}\na: ${SECRET}`, fault: /^\(file\): is not valid YAML: line 2, column 1$/ },
    { text: `a: 1\n---\nb: ${SECRET}`, fault: /^\(file\): is not valid YAML/ },
    { text: `a: *${SECRET.replaceAll('-', '')}`, fault: /^\(file\): is not valid YAML/ },
    { text: `{"a": "${SECRET}`, fault: /^\(file\): is not valid YAML: line 1/ },
    { text: '\u0000', fault: /^\(file\): / },
    // Whoever should have put the value in its place has not been here.
    {
      text: `provider: { name: fake, options: { key: !vault ${SECRET} } }`,
      fault: /^\(file\): is not valid YAML: line 1/,
    },
  ]) {
    t.match(faultsOf(text), [fault], text)
    t.notMatch(faultsOf(text).join(), SECRET)
  }
  await new Promise((resolve) => setImmediate(resolve))
  t.same(warnings, [])
})

t.test('no fault repeats what the file holds', async (t) => {
  for (const text of [
    buildConfig({ provider: { name: 'fake', options: SECRET } }),
    buildConfig({ provider: SECRET }),
    buildConfig({ clusterId: `_${SECRET}` }),
    buildConfig({ finalizer: SECRET }),
    buildConfig({ queue: { kind: SECRET } }),
    buildConfig({ server: { port: SECRET, tls: SECRET } }),
    buildConfig({ log: SECRET }),
    buildConfig({ backends: { networks: [SECRET] } }),
    SECRET,
  ]) {
    const faults = faultsOf(text, { PORT: SECRET })
    t.ok(faults.length > 0)
    t.notMatch(faults.join(), SECRET, text)
  }
})

t.test('the provider is made from its options, and its faults are told with all others', async (t) => {
  const clock = createManualClock()
  const levels: string[] = []
  const load = (text: string) =>
    loadSettings({
      text,
      environment: {},
      registry: createProviderRegistry({
        fake: fakeProviderFactory,
        strict({ options, fault }) {
          if (options['region'] === undefined) fault('region', 'is required')
          if (options['apiKey'] !== undefined) fault('apiKey', 'put it into a file and name the file')
          if (options['size'] !== 'small') fault('size', 'must be: small')
          return createFakeProvider({ delayMs: 0, failure: () => undefined, clock })
        },
      }),
      clock,
      createLogger(level) {
        levels.push(level)
        return createPinoLogger({ level: 'silent', destination: { write: () => {} } })
      },
    })
  const settings = await load(
    buildConfig({ provider: { name: 'fake', options: { delayMs: 2_000 } }, log: { level: 'warn' } }),
  )
  t.equal(settings.provider.name, 'fake')
  t.same(levels, ['warn'])

  const broken = { name: 'strict', options: { apiKey: SECRET } }
  await t.rejects(load(buildConfig({ provider: broken })), {
    code: 'ConfigurationInvalid',
    message: [
      '3 faults in the configuration:',
      '  provider.options.region: is required',
      '  provider.options.apiKey: put it into a file and name the file',
      '  provider.options.size: must be: small',
    ].join('\n'),
  })
  await t.rejects(load(buildConfig({ provider: { name: 'fake', options: { delay: 1, delayMs: -1 } }, sever: {} })), {
    message: [
      '3 faults in the configuration:',
      '  sever: is not a setting; check the spelling',
      '  provider.options.delay: the fake provider has no such option; it knows: delayMs',
      '  provider.options.delayMs: must be a whole number of milliseconds from 0 to 3600000',
    ].join('\n'),
  })
  await t.rejects(load(buildConfig({ sever: {} })), { message: /^1 fault in the configuration:\n/ })

  for (const name of ['aws', 'toString', '__proto__']) {
    await t.rejects(load(buildConfig({ provider: { name } })), {
      code: 'ProviderUnknown',
      field: 'provider.name',
      message: `provider.name: no provider is called "${name}"; known are: fake, strict`,
    })
  }
  await t.rejects(load(buildConfig({ provider: { name: 'aws' }, sever: {} })), {
    code: 'ConfigurationInvalid',
    message: /sever: .*\n {2}provider\.name: no provider is called "aws"; known are: fake, strict$/,
  })
})

t.test('who may call', async (t) => {
  const clock = createManualClock()
  const warned: unknown[] = []
  const start = async (overrides: object, opensDoors = true) => {
    const { config } = await loadSettings({
      opensDoors,
      text: buildConfig(overrides),
      environment: {},
      registry: createProviderRegistry({ fake: fakeProviderFactory }),
      clock,
      createLogger: () => ({ ...silentLogger, warn: (fields) => void warned.push(fields) }),
    })
    return config.callers
  }
  const tokens = { tokenFile: '/etc/tokens' }
  const oidc = { issuer: 'https://kubernetes.default.svc', audience: 'wcp', subjects: ['system:serviceaccount:a:b'] }
  const server = { tls: { certFile: 'c', keyFile: 'k', clientCaFile: 'ca' } }
  const clientSubjects = ['kube-apiserver']

  t.match(await start({ callers: { admission: tokens, events: { oidc }, sweep: tokens } }), {
    admission: tokens,
    events: { oidc, rate: { perSecond: 1_000, burst: 10_000 } },
    sweep: { ...tokens, rate: { perSecond: 10, burst: 100 } },
    metrics: {},
    anyone: false,
  })
  await start({ server, callers: { admission: { clientSubjects }, events: tokens, sweep: tokens, anyone: true } })
  await start({ callers: undefined, server: { pathPrefix: '/a-secret' } })
  t.same(warned, [], 'no door is open')
  await start({ callers: { admission: tokens, anyone: true } })
  t.same(warned, [{ doors: ['events', 'sweep'] }], 'told at every start')

  await start({ callers: undefined }, false)
  t.equal(warned.length, 1, 'what opens no doors is not asked who may call')

  const open = (door: string, proofs = 'tokenFile or clientSubjects') =>
    `  callers.${door}: anyone could call this door: set ${proofs}, or server.pathPrefix, or callers.anyone: true to leave it open`
  for (const { title, overrides, says } of [
    {
      title: 'nothing said',
      overrides: { callers: undefined },
      says: [open('admission'), open('events', 'tokenFile, oidc or clientSubjects'), open('sweep')],
    },
    {
      title: 'one door forgotten',
      overrides: { callers: { admission: tokens, events: tokens } },
      says: [open('sweep')],
    },
    {
      title: 'told with all other faults',
      overrides: { callers: { admission: tokens, events: tokens }, sever: 1 },
      says: ['  sever: is not a setting; check the spelling', open('sweep')],
    },
    {
      title: 'certificates without their authority',
      overrides: { callers: { admission: { clientSubjects }, anyone: true } },
      says: [
        '  callers.admission.clientSubjects: needs server.tls.clientCaFile: the authority of the client certificates',
      ],
    },
    {
      title: 'an authority that nobody is asked for',
      overrides: { server },
      says: [
        '  server.tls.clientCaFile: proves nobody: name the callers of a door, such as callers.admission.clientSubjects',
      ],
    },
    {
      title: 'an issuer anybody could pose as',
      overrides: { callers: { events: { oidc: { ...oidc, issuer: 'http://issuer' } }, anyone: true } },
      says: ['  callers.events.oidc.issuer: must match pattern "^https://[^/?#@]+[^?#]*$"'],
    },
    {
      title: 'everybody whom the issuer knows',
      overrides: { callers: { events: { oidc: { ...oidc, subjects: [] } }, anyone: true } },
      says: ['  callers.events.oidc.subjects: must NOT have fewer than 1 items'],
    },
  ]) {
    const faults = says.length === 1 ? '1 fault' : `${says.length} faults`
    const message = [`${faults} in the configuration:`, ...says].join('\n')
    await t.rejects(start(overrides), { code: 'ConfigurationInvalid', message }, title)
  }
})

t.test('a configuration file that cannot be read', async (t) => {
  t.throws(() => readConfigFile('/no/such/file'), {
    code: 'ConfigurationInvalid',
    message: 'the configuration file /no/such/file cannot be read: give its path with --config or WCP_CONFIG',
  })
})

t.test('the certificate we serve with', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const now = Date.parse('2026-03-01T08:00:00Z')
  const day = 86_400_000
  const authority = await createCertificateAuthority(now)
  let count = 0
  const file = (content: string) => {
    count += 1
    const path = join(folder, `file-${count}.pem`)
    writeFileSync(path, content)
    return path
  }
  const issue = async (from: number, to: number) => {
    const validity = { notBefore: new Date(now + from * day), notAfter: new Date(now + to * day) }
    const { certPem, keyPem } = await authority.issueServingCertificate(['localhost'], validity)
    return { cert: certPem, key: keyPem }
  }
  const good = await issue(-1, 30)
  const load = (cert: string, key: string) => loadServingCertificate({ certFile: file(cert), keyFile: file(key) }, now)

  t.same(load(good.cert, good.key), { ...good, notAfter: now + 30 * day })
  t.equal(load(`${good.cert}${authority.caPem}`, good.key).notAfter, now + 30 * day, 'with its chain')
  t.equal(load(good.cert.replaceAll('\n', '\r\n'), good.key).notAfter, now + 30 * day)
  const edge = await issue(0, 0)
  t.equal(load(edge.cert, edge.key).notAfter, now, 'its first second is its last')

  const [expired, early, other] = [await issue(-30, -1), await issue(1, 30), await issue(-1, 30)]
  for (const { title, cert, key, field, says } of [
    {
      title: 'expired',
      ...expired,
      field: 'certFile',
      says: /expired on Feb 28 .* 2026 GMT; put a renewed certificate/,
    },
    {
      title: 'not yet valid',
      ...early,
      field: 'certFile',
      says: /is valid only from Mar +2 .* 2026 GMT; check the clock/,
    },
    {
      title: 'another key',
      cert: good.cert,
      key: other.key,
      field: 'keyFile',
      says: /is not the key of the certificate/,
    },
    { title: 'no PEM', cert: 'hello', key: good.key, field: 'certFile', says: /holds no PEM certificate$/ },
    { title: 'empty', cert: '', key: good.key, field: 'certFile', says: /holds no PEM certificate$/ },
    { title: 'key is no PEM', cert: good.cert, key: SECRET, field: 'keyFile', says: /holds no PEM private key$/ },
    { title: 'swapped', cert: good.key, key: good.cert, field: 'certFile', says: /holds no PEM certificate$/ },
    {
      title: 'a key for a key file that holds a certificate',
      cert: good.cert,
      key: good.cert,
      field: 'keyFile',
      says: /holds no PEM private key$/,
    },
  ]) {
    const fault = { code: 'CertificateInvalid', field: `server.tls.${field}`, message: says }
    t.throws(() => load(cert, key), fault, title)
  }
  for (const [certFile, keyFile, field] of [
    ['/no/such/cert', file(good.key), 'certFile'],
    [file(good.cert), '/no/such/key', 'keyFile'],
    [folder, file(good.key), 'certFile'],
  ] as const) {
    t.throws(() => loadServingCertificate({ certFile, keyFile }, now), {
      code: 'CertificateInvalid',
      message: /^server\.tls\.(certFile|keyFile): .* cannot be read$/,
      field: `server.tls.${field}`,
    })
  }
})

t.test('what `wcp watch` tells of is served by the control plane', async (t) => {
  const kindsOf = (overrides: object) => parsed(buildConfig(overrides)).watch.resources.map(({ kind }) => kind)
  t.same(kindsOf({}), ['Cluster', 'Secret'])
  t.same(kindsOf({ controlPlane: 'kubernetes' }), ['Node'], 'no Clusters there, and nobody needs its Secrets')
})
