import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parse as parseYaml } from 'yaml'
import { createCertificateAuthority } from '../src/adapters/certificates/certificate-authority.ts'
import { builtInProviders } from '../src/cli/providers.ts'
import { cloudWebhookConfigurations } from '../src/compose/cloud-webhook-configurations.ts'
import { finishManifests, type Manifest } from '../src/compose/finish-manifests.ts'
import { loadSettings } from '../src/compose/load-settings.ts'
import { parseManifests, printManifests } from '../src/compose/manifest-file.ts'
import { AS_THEY_ARE, NAME, OVERLAYS, type Overlay, type OverlayName, type Target } from '../src/compose/overlay.ts'
import { SWEEP_SCOPES } from '../src/domain/sweep-report.ts'
import { overlayWebhooksFile } from './manifests/overlay-webhooks-file.ts'
import { MANIFESTS, renderKustomization } from './manifests/render-overlay.ts'
import { schemaFaults } from './manifests/schema-faults.ts'
import { wcp } from './support/command-line.ts'
import { findKubectl } from './support/find-kubectl.ts'
import { createManualClock } from './support/manual-clock.ts'
import { silentLogger } from './support/silent-logger.ts'

// What is applied is what the code speaks of. `npm run manifests` writes what these tests compare.

const ROOT = join(import.meta.dirname, '..')
const kubectl = findKubectl()
const withKubectl = kubectl === undefined ? { skip: 'no kubectl' } : {}

interface Half {
  overlay: OverlayName
  target: Target
  folder: string
  rendered: string
}

const HALVES: Half[] = (Object.entries(OVERLAYS) as [OverlayName, Overlay][]).flatMap(([overlay, { targets }]) =>
  (Object.entries(targets) as [Target, Half][]).map(([target, { folder, rendered }]) => ({
    overlay,
    target,
    folder,
    rendered,
  })),
)

const textOf = (file: string) => readFileSync(join(MANIFESTS, file), 'utf8')
const objectsOf = ({ rendered }: Half) => parseManifests(textOf(rendered)).objects
const all = HALVES.map((half) => ({ ...half, objects: objectsOf(half) }))

t.test('every overlay is rendered as kubectl renders it, after its own comment', withKubectl, async (t) => {
  for (const { folder, rendered } of HALVES) {
    const kustomized = await renderKustomization(kubectl ?? '', join(MANIFESTS, 'overlays', folder))
    const file = parseManifests(textOf(rendered))
    t.strictSame(file.objects, kustomized.objects, `${rendered} (npm run manifests)`)
    t.ok(file.header.startsWith(kustomized.header), `${rendered}: header`)
    t.equal(textOf(rendered), printManifests(file), `${rendered}: as printed`)
  }
})

t.test('whom the API server asks is what the code registers', async (t) => {
  for (const [name, { targets }] of Object.entries(OVERLAYS) as [OverlayName, Overlay][]) {
    const { folder = '' } = targets.karmada ?? targets.host ?? {}
    const file = `overlays/${folder}/webhook-configurations.yaml`
    t.equal(textOf(file), overlayWebhooksFile(name), `${file} (npm run manifests)`)
  }
})

t.test('wcp manifests prints each as it is, without a kubectl', async (t) => {
  for (const { overlay, target, rendered } of HALVES) {
    const { code, out } = await wcp(['manifests', '--overlay', overlay, '--target', target])
    t.equal(code, 0)
    t.equal(`${out}\n`, textOf(rendered), rendered)
  }
})

t.test('every object fits the schemas of Kubernetes, Knative and cert-manager', async (t) => {
  for (const { rendered, objects } of all) t.strictSame(await schemaFaults(objects), [], rendered)
  const knative = all.find(({ rendered }) => rendered.includes('knative-host'))?.objects ?? []
  const trigger = knative.find(({ kind }) => kind === 'Trigger')
  const planted = (fields: object) =>
    ({ ...trigger, spec: { ...(trigger?.['spec'] as object), ...fields } }) as Manifest
  const faults = (await schemaFaults([planted({ broker: 1 }), planted({ subscribe: {} })])).join('\n')
  t.match(faults, /broker must be string/)
  t.match(faults, /subscribe.*does not exist/, 'fields that there are not, too')
})

t.test('components render onto an overlay of one’s own', withKubectl, async (t) => {
  const folder = join(import.meta.dirname, 'manifests/with-components')
  const host = (await renderKustomization(kubectl ?? '', join(folder, 'host'))).objects
  const karmada = (await renderKustomization(kubectl ?? '', join(folder, 'karmada'))).objects
  t.strictSame(await schemaFaults([...host, ...karmada]), [])
  const [deployment] = host.filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name === NAME)
  t.match(deployment, { spec: { replicas: 2, strategy: { type: 'RollingUpdate' } } })
  const config = await startedWith(host, {})
  t.match(config, { queue: { kind: 'jetstream' }, lock: 'lease' })
  t.strictSame(leaseNamespaces(karmada), [config.lease.namespace])
  t.strictSame(
    host.flatMap(podsOf).flatMap(({ spec }) => hardeningFaults(spec)),
    [],
  )
  t.ok(karmada.some(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === `${NAME}-watch`))
})

t.test('no write of a user waits for us, and none in our own namespace is asked about', async (t) => {
  for (const { rendered, objects } of all) {
    const webhooks = objects.flatMap((object) => (object['webhooks'] ?? []) as Webhook[])
    for (const { name, ...webhook } of webhooks) {
      const door = name.split(/[-.]/)[0] ?? ''
      t.equal(webhook.failurePolicy, 'Ignore', `${rendered}: ${name}`)
      t.ok(webhook.timeoutSeconds <= 3, 'timeout')
      t.equal(webhook.sideEffects, door === 'notify' ? 'NoneOnDryRun' : 'None', `${name}: side effects`)
      t.ok(webhook.matchConditions.length > 0, `${name}: conditions in CEL`)
      t.strictSame(webhook.namespaceSelector, {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [NAME] }],
      })
      t.equal(webhook.clientConfig.caBundle, undefined, 'belongs to whoever renews it')
      t.ok(webhook.clientConfig.url?.endsWith(`/admission/${door}`) ?? rendered === 'kubernetes-ccm.yaml', 'URL')
      t.notOk(
        webhook.rules.some(({ resources }) => resources.includes('nodes/status') || resources.includes('secrets')),
        'neither heartbeats nor Secrets',
      )
    }
  }
})

t.test('whoever runs may nothing that it does not need', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  for (const { rendered, objects } of all) {
    const pods = objects.flatMap(podsOf)
    t.strictSame(
      pods.flatMap(({ spec }) => hardeningFaults(spec)),
      [],
      rendered,
    )
    const ours = pods.flatMap(({ spec }) => spec.containers).filter(({ image }) => image.startsWith(NAME))
    t.ok(
      ours.every(({ image }) => image === `${NAME}:${version}`),
      `${rendered}: the image of this version`,
    )
    for (const { spec } of pods)
      for (const { secret } of spec.volumes ?? [])
        if (secret?.secretName === `${NAME}-tls`)
          t.ok(
            secret.items?.every(({ key }) => key !== 'ca.key'),
            `${rendered}: not the key of the authority`,
          )
    const wildcards = objects.filter(({ rules }) => JSON.stringify(rules ?? '').includes('*'))
    t.strictSame(wildcards, [], `${rendered}: no rule for everything`)
    t.strictSame(
      objects.filter(({ kind }) => kind === 'Secret'),
      [],
      'no secret in Git',
    )
  }
})

const ENVIRONMENTS: Record<string, Record<string, string>> = {
  'karmada-knative': { PORT: '8080', K_SERVICE: NAME, K_SINK: 'http://broker.example' },
}

t.test('every configuration starts, as the identity and for the classes that are there', async (t) => {
  for (const { overlay, objects } of all.filter(({ target }) => target === 'host')) {
    const config = await startedWith(objects, ENVIRONMENTS[overlay] ?? {})
    t.equal(config.identity, `system:serviceaccount:${NAME}:${NAME}`, 'who writes is who is not told of it')
    const karmada = all.find((half) => half.overlay === overlay && half.target === 'karmada')?.objects ?? []
    const classes = karmada.filter(({ kind }) => kind === 'IngressClass')
    t.strictSame(
      classes.map(({ metadata }) => metadata.name),
      config.ingressClass.names,
    )
    for (const { spec } of classes) t.strictSame(spec, { controller: config.ingressClass.controller })
    t.strictSame(leaseNamespaces(karmada), config.lock === 'lease' ? [config.lease.namespace] : [], 'Leases')
    const { server } = config
    const doors = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === NAME)
    if (doors !== undefined)
      t.ok(
        JSON.stringify(doors).includes(`"containerPort":${server.port}`) && server.tls !== undefined,
        'it listens where it is asked',
      )
    else t.equal(server.tls, undefined, 'Knative ends TLS')
  }
  const local = await loaded(textOf('overlays/local/config.yaml'), {})
  t.equal(`https://${local.server.host}:${local.server.port}`, OVERLAYS.local.url)
})

t.test('the file of an installation is good for commands outside of its pods', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const { overlay, objects } of all.filter(({ target }) => target === 'host')) {
    const file = join(folder, `${overlay}.yaml`)
    writeFileSync(file, configText(objects))
    for (const command of [['drain'], ['watch', '--sink', 'https://function.example.net/events']]) {
      const { code, err } = await wcp([...command, '--config', file], { KUBECONFIG: join(folder, 'none') })
      t.equal(code, 2)
      t.match(err, /^KubeconfigInvalid: kubernetes\./, `${overlay}: ${command[0]} gets as far as the API server`)
    }
  }
})

t.test('the sweeps ask for scopes that there are, everything as often as the function believes', async (t) => {
  const scopes = (wanted: string) =>
    all
      .filter(({ rendered }) => rendered.includes(wanted))
      .flatMap(({ objects }) => objects)
      .flatMap(({ kind, spec }) => {
        const { schedule, data } = (spec ?? {}) as { schedule?: string; data?: string }
        if (kind === 'PingSource') return [[(JSON.parse(data ?? '') as { scope: string }).scope, schedule ?? '']]
        if (kind === 'CronJob') return [[/--scope=([a-z-]+)/.exec(JSON.stringify(spec))?.[1] ?? '', schedule ?? '']]
        return []
      })
      .sort()
  t.strictSame(scopes('karmada-deployment-host'), [
    ['all', '*/5 * * * *'],
    ['pending', '* * * * *'],
  ])
  t.strictSame(scopes('karmada-knative-host'), scopes('karmada-deployment-host'))
  t.strictSame(
    scopes('kubernetes-ccm').map(([scope]) => scope),
    ['all', 'nodes', 'pending', 'routes'],
  )
  for (const [scope] of scopes('')) t.ok(SWEEP_SCOPES.some((known) => known === scope))
  // Were they seldomer, some balancers would never be in the share that is verified.
  for (const { overlay, rendered, objects } of all.filter(({ target }) => target === 'host')) {
    const minutes = (await startedWith(objects, ENVIRONMENTS[overlay] ?? {})).sweep.intervalMs / 60_000
    const whole = scopes(rendered).filter(([scope]) => scope === 'all')
    if (whole.length > 0) t.strictSame(whole, [['all', `*/${minutes} * * * *`]], overlay)
  }
})

t.test('wcp manifests fills in what differs from installation to installation', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const { caPem } = await createCertificateAuthority(Date.now(), 'test')
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, caPem)
  const given = [
    ...['--url', 'https://hook.example.net/a-secret/', '--ca', ca, '--class', 'acme', '--class', 'acme-internal'],
    ...['--image', 'registry.example.net/acme:2', '--namespace', 'balancers', '--provider', 'acme'],
  ]
  const printed = async (overlay: OverlayName, target: Target, args = given) => {
    const { code, out, err } = await wcp(['manifests', '--overlay', overlay, '--target', target, ...args])
    t.equal(code, 0, err)
    return parseManifests(out).objects
  }

  await t.test('for Karmada: URL, authority, classes, identity, finalizer', async (t) => {
    for (const overlay of ['karmada-knative', 'karmada-deployment', 'local'] as const) {
      const objects = await printed(overlay, 'karmada')
      const webhooks = objects.flatMap((object) => (object['webhooks'] ?? []) as Webhook[])
      t.equal(webhooks.length, 8)
      for (const { clientConfig, namespaceSelector } of webhooks) {
        t.match(clientConfig.url, /^https:\/\/hook\.example\.net\/a-secret\/admission\/(mutate|validate|notify)$/)
        t.equal(clientConfig.caBundle, Buffer.from(caPem).toString('base64'))
        t.match(namespaceSelector, { matchExpressions: [{ values: ['balancers'] }] })
      }
      const conditions = JSON.stringify(webhooks.map(({ matchConditions }) => matchConditions))
      t.match(conditions, /'webhook-cloud-provider\.dev\/acme' in/)
      t.notMatch(conditions, /dev\/fake/)
      t.match(conditions, /'system:serviceaccount:balancers:webhook-cloud-provider'/)
      const classes = objects.filter(({ kind }) => kind === 'IngressClass')
      t.match(classes, [
        { metadata: { name: 'acme' }, spec: { controller: 'webhook-cloud-provider.dev/acme' } },
        { metadata: { name: 'acme-internal' }, spec: { controller: 'webhook-cloud-provider.dev/acme' } },
      ])
      t.ok(classes.filter(({ metadata }) => metadata.annotations !== undefined).length <= 1, 'one default at most')
      t.strictSame(traces(objects), [])
      t.strictSame(await schemaFaults(objects), [])
    }
  })

  await t.test('for the host: image, configuration, path, host name', async (t) => {
    for (const overlay of ['karmada-knative', 'karmada-deployment'] as const) {
      const objects = await printed(overlay, 'host')
      const config = await startedWith(objects, { K_SINK: 'http://broker.example' }, 'fake')
      t.match(config, {
        ingressClass: { names: ['acme', 'acme-internal'] },
        identity: 'system:serviceaccount:balancers:webhook-cloud-provider',
        server: { pathPrefix: '/a-secret' },
      })
      t.match(configText(objects), /name: acme }/)
      t.match(configText(objects), /# In the identity of every balancer/, 'comments stay')
      t.match(JSON.stringify(objects), /"image":"registry\.example\.net\/acme:2"/)
      t.strictSame(traces(objects), [])
      t.strictSame(await schemaFaults(objects), [])
    }
    const knative = JSON.stringify(await printed('karmada-knative', 'host'))
    t.equal(knative.split('"uri":"/a-secret/events"').length, 3, 'both Triggers')
    t.match(knative, /"kind":"DomainMapping","metadata":\{"name":"hook\.example\.net"/)
    const deployment = JSON.stringify(await printed('karmada-deployment', 'host'))
    t.match(deployment, /"--url=https:\/\/webhook-cloud-provider\.balancers\.svc\/a-secret"/)
  })

  await t.test('for one cluster: the class of Services; one’s own authority instead of cert-manager', async (t) => {
    const injected = await printed('kubernetes-ccm', 'host', ['--namespace', 'balancers', '--class', 'acme.example/lb'])
    t.match(configText(injected), /loadBalancerClass: acme\.example\/lb/)
    t.match(JSON.stringify(injected), /object\.spec\.loadBalancerClass == 'acme\.example\/lb'/)
    t.match(JSON.stringify(injected), /"cert-manager\.io\/inject-ca-from":"balancers\/webhook-cloud-provider"/)
    t.match(JSON.stringify(injected), /"dnsNames":\["webhook-cloud-provider\.balancers\.svc"\]/)
    t.strictSame(traces(injected), [])

    const own = await printed('kubernetes-ccm', 'host', ['--ca', ca, '--provider', 'fake'])
    t.notMatch(JSON.stringify(own), /cert-manager/)
    t.match(JSON.stringify(own), new RegExp(`"caBundle":"${Buffer.from(caPem).toString('base64').slice(0, 40)}`))
    t.notMatch(configText(own), /allowUntaggedCloud/, 'was said of the example')

    const called = await printed('kubernetes-ccm', 'host', ['--url', 'https://hook.example.net:8443'])
    t.match(JSON.stringify(called), /"url":"https:\/\/hook\.example\.net:8443\/admission\/mutate"/)
    t.match(JSON.stringify(called), /"dnsNames":\[[^\]]*"hook\.example\.net"\]/)
  })

  await t.test('a secret path closes doors that were left open', async (t) => {
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: NAME },
      data: { 'config.yaml': 'callers: { anyone: true }\nserver: { port: 8443 }\n' },
    }
    const text = (url: string) => configText(finishManifests([map], 'karmada-deployment', { ...AS_THEY_ARE, url }))
    t.equal(text('https://a.example/b'), 'callers: {}\nserver: { port: 8443, pathPrefix: /b }\n')
    t.equal(text('https://a.example'), map.data['config.yaml'])
  })

  await t.test('a host that is an address, and a class without a prefix', async (t) => {
    for (const [url, address] of [
      ['https://192.0.2.7:8443', '192.0.2.7'],
      ['https://[2001:db8::7]/b', '2001:db8::7'],
    ] as const) {
      const args = ['--overlay', 'kubernetes-ccm', '--url', url, '--class', 'plain']
      const { objects } = parseManifests((await wcp(['manifests', ...args])).out)
      const certificate = objects.find(({ kind, spec }) => kind === 'Certificate' && 'ipAddresses' in (spec as object))
      t.match(certificate, { spec: { dnsNames: [`${NAME}.${NAME}.svc`], ipAddresses: [address] } })
      t.equal((await startedWith(objects, {})).cloud.loadBalancerClass, 'plain')
    }
  })

  await t.test('what is missing is said, beside what is printed', async (t) => {
    const { err } = await wcp(['manifests', '--overlay', 'karmada-knative', '--target', 'karmada'])
    t.match(err, /without --url, https:\/\/webhook-cloud-provider\.example\.com stands for/)
    t.match(err, /without --ca/)
    t.equal((await wcp(['manifests', '--overlay', 'kubernetes-ccm'])).err, '')
  })

  await t.test('what cannot work is refused', async (t) => {
    const key = join(folder, 'key.pem')
    writeFileSync(key, `${caPem}-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n-----END EC PRIVATE KEY-----\n`)
    const local = ['--overlay', 'local']
    const refused: [string[], RegExp][] = [
      [[], /--overlay must be one of karmada-knative, karmada-deployment, kubernetes-ccm, local/],
      [['--overlay', 'helm'], /--overlay must be one of/],
      [['--overlay', 'toString'], /--overlay must be one of/],
      [['--overlay', 'karmada-knative'], /--target must be host .* or karmada/],
      [['--overlay', 'kubernetes-ccm', '--target', 'karmada'], /--target must be host/],
      [[...local, '--url', 'http://127.0.0.1'], /--url: .* https/],
      [[...local, '--url', 'https://user:secret@127.0.0.1'], /--url: .* no credentials/],
      [[...local, '--url', 'https://127.0.0.1/?token=secret'], /--url: .* query/],
      [[...local, '--url', 'https://127.0.0.1/a//b'], /--url: its path/],
      [[...local, '--ca', join(folder, 'none.pem')], /--ca: .* cannot be read \(ENOENT\)/],
      [[...local, '--ca', key], /--ca: .* private key/],
      [[...local, '--ca', join(ROOT, 'README.md')], /--ca: .* no PEM certificate/],
      [[...local, '--class', "a'b"], /--class: "a'b" is not the name of an IngressClass/],
      [[...local, '--class', 'a.example/b'], /is not the name of an IngressClass/],
      [['--overlay', 'kubernetes-ccm', '--class', '/b'], /is not the name of a class/],
      [['--overlay', 'karmada-knative', '--target', 'host', '--url', 'https://192.0.2.7'], /--url: Knative/],
      [['--overlay', 'karmada-knative', '--target', 'host', '--url', 'https://[2001:db8::7]'], /--url: Knative/],
      [[...local, '--namespace', 'A_B'], /--namespace/],
      [[...local, '--provider', 'a/b'], /--provider/],
      [[...local, '--image', 'a b'], /--image/],
      [['--overlay', 'kubernetes-ccm', '--class', 'a.b/c', '--class', 'd.e/f'], /give --class once/],
    ]
    for (const [args, expected] of refused) {
      const { code, out, err } = await wcp(['manifests', ...args])
      t.equal(code, 2, args.join(' '))
      t.equal(out, '')
      t.match(err, expected)
      t.notMatch(err, /secret/)
    }
  })
})

t.test('what is printed comes with the package', async (t) => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT })
  const [{ files }] = JSON.parse(packed.toString()) as [{ files: { path: string }[] }]
  const paths = new Set(files.map(({ path }) => path))
  for (const { rendered, folder } of HALVES) {
    t.ok(paths.has(`manifests/${rendered}`), rendered)
    t.ok(paths.has(`manifests/overlays/${folder}/kustomization.yaml`), folder)
  }
})

t.test('nodes/status is not registered unless it is asked for', async (t) => {
  const at = { url: 'https://function.example.net' }
  const rules = (nodeStatus: boolean) =>
    JSON.stringify(cloudWebhookConfigurations({ at, caPem: undefined, nodeStatus }))
  t.notMatch(rules(false), /nodes\/status/)
  t.match(rules(true), /nodes\/status/)
  t.match(parseYaml(rules(true)), [{}, {}])
})

interface Webhook {
  name: string
  clientConfig: { url?: string; caBundle?: string }
  failurePolicy: string
  timeoutSeconds: number
  sideEffects: string
  matchConditions: object[]
  namespaceSelector?: object
  rules: { resources: string[] }[]
}

interface PodSpec {
  automountServiceAccountToken?: boolean
  securityContext?: SecurityContext
  volumes?: { secret?: { secretName: string; items?: { key: string }[] } }[]
  containers: { name: string; image: string; resources?: { limits?: object }; securityContext?: SecurityContext }[]
}

interface SecurityContext {
  runAsNonRoot?: boolean
  seccompProfile?: { type: string }
  readOnlyRootFilesystem?: boolean
  allowPrivilegeEscalation?: boolean
  capabilities?: { drop?: string[] }
}

/** The pods that an object leads to: it has containers somewhere. */
function podsOf(object: Manifest): { spec: PodSpec }[] {
  const found: { spec: PodSpec }[] = []
  JSON.stringify(object, (_, value: { spec?: PodSpec } | null) => {
    if (Array.isArray(value?.spec?.containers)) found.push({ spec: value.spec })
    return value
  })
  return found
}

function hardeningFaults(spec: PodSpec): string[] {
  return spec.containers.flatMap(({ name, resources, securityContext = {} }) => {
    const { runAsNonRoot, seccompProfile } = { ...spec.securityContext, ...securityContext }
    const faults = {
      'may run as root': runAsNonRoot !== true,
      'has no seccomp profile': seccompProfile?.type !== 'RuntimeDefault',
      'may write its files': securityContext.readOnlyRootFilesystem !== true,
      'may gain privileges': securityContext.allowPrivilegeEscalation !== false,
      'has capabilities': securityContext.capabilities?.drop?.includes('ALL') !== true,
      'has no limit': resources?.limits === undefined,
      'is not told about its token': spec.automountServiceAccountToken === undefined,
    }
    return Object.entries(faults).flatMap(([fault, isSo]) => (isSo ? [`${name} ${fault}`] : []))
  })
}

function configText(objects: readonly Manifest[]): string {
  const map = objects.find(({ kind }) => kind === 'ConfigMap')
  return (map?.['data'] as Record<string, string> | undefined)?.['config.yaml'] ?? ''
}

/** What the function would start with; `instead` of a provider that is nobody's here. */
function startedWith(objects: readonly Manifest[], environment: Record<string, string>, instead?: string) {
  const text = configText(objects)
  return loaded(instead === undefined ? text : text.replace(/provider: .*/, `provider: { name: ${instead} }`), {
    ...environment,
    ...(JSON.stringify(objects).includes('"name":"KUBECONFIG"') ? { KUBECONFIG: '/etc/karmada/kubeconfig' } : {}),
  })
}

async function loaded(text: string, environment: Record<string, string>) {
  const { config } = await loadSettings({
    text,
    environment,
    registry: builtInProviders(),
    clock: createManualClock(),
    createLogger: () => silentLogger,
  })
  return config
}

function leaseNamespaces(objects: readonly Manifest[]): (string | undefined)[] {
  return objects
    .filter(({ kind, rules }) => kind.endsWith('Role') && JSON.stringify(rules).includes('"leases"'))
    .map(({ metadata }) => metadata.namespace)
}

/** Where the namespace of the manifests is left although another was asked for. */
function traces(objects: readonly Manifest[]): string[] {
  const found: string[] = []
  JSON.stringify(objects, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    const isNamespace = key === 'namespace' && value === NAME
    if (isNamespace || /(\.|serviceaccount:|namespace: )webhook-cloud-provider(\.svc|:| })/.test(value))
      found.push(`${key}: ${value}`)
    return value
  })
  const [namespace] = objects.filter(({ kind }) => kind === 'Namespace')
  return namespace?.metadata.name === NAME ? [...found, 'Namespace'] : found
}
