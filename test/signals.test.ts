import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse as parseYaml } from 'yaml'
import { loadKubeConfig } from '../src/adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../src/adapters/kubernetes/kubernetes-cluster-store.ts'
import { METRIC_CATALOGUE, PROVIDER_SERVER_CATALOGUE } from '../src/compose/metric-catalogue.ts'
import { measuredOnly } from '../src/compose/telemetry.ts'
import { ERROR_CODES } from '../src/domain/catalogue-error.ts'
import { SWEEP_SCOPES } from '../src/domain/sweep-report.ts'
import { UNTRACED } from '../src/flow/untraced.ts'
import { kubeconfigOf } from '../src/local/kubeconfig.ts'
import type { CloudProvider } from '../src/provider/cloud.ts'
import { ImplementedElsewhere, RetryAfter } from '../src/provider/errors.ts'
import { observeProvider } from '../src/reconcilers/observe-provider.ts'
import { buildIngress } from './support/build-objects.ts'
import { buildReview } from './support/build-review.ts'
import { findKubectl } from './support/find-kubectl.ts'
import { createManualClock } from './support/manual-clock.ts'
import { type Query, readQuery } from './support/promql.ts'
import { startStubApiServer } from './support/stub-api-server.ts'
import { createWorld, type World } from './support/world.ts'

const ROOT = join(import.meta.dirname, '..')
const MONITORING = 'manifests/monitoring'
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Lines of /metrics without comments. */
async function samples(world: World): Promise<string[]> {
  const { body } = await world.http('GET', '/metrics')
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

async function hasSamples(t: Test, world: World, expected: readonly string[]): Promise<void> {
  const lines = await samples(world)
  for (const line of expected) t.ok(lines.includes(line), line)
}

t.test('what is exposed is what the catalogue has', async (t) => {
  const { body } = await createWorld().http('GET', '/metrics')
  const types = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  t.same(types.sort(), METRIC_CATALOGUE.map(({ name, type }) => `${name} ${type}`).sort())
  for (const { name, type, labels } of METRIC_CATALOGUE) {
    t.equal(name.endsWith('_total'), type === 'counter', name)
    t.ok(
      labels.every((label) => !/^(name|namespace|uid|key|path)$/.test(label) || name.startsWith('workqueue_')),
      name,
    )
  }
})

t.test('docs/metrics.md says the same, and what to do', async (t) => {
  const rows = read('docs/metrics.md').matchAll(/^\| `(\S+)` \| (\w+) \|(.*)\| (.*) \| (.*) \|$/gm)
  const documented = [...rows].map(([, name = '', type, labels = '', help = '', remedy = '']) => {
    t.ok(remedy.length > 5, `${name} has a remedy`)
    return { name, type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label), help }
  })
  const known = [...new Set([...METRIC_CATALOGUE, ...PROVIDER_SERVER_CATALOGUE])].map(
    ({ name, type, labels, help }) => ({ name, type, labels: [...labels], help }),
  )
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  t.strictSame(documented.sort(byName), known.sort(byName))
  const sections = headingsOf('docs/alerts.md')
  for (const [, anchor = ''] of read('docs/metrics.md').matchAll(/\(alerts\.md#(\w+)\)/g)) {
    t.ok(sections.includes(anchor), anchor)
  }
})

t.test('from a review to a balancer, in numbers', async (t) => {
  const world = createWorld({ config: 'propagation: { enabled: false }' })
  await world.create(buildIngress())
  await world.http('POST', '/admission/notify', buildReview('CREATE', buildIngress()))
  t.ok((await samples(world)).includes('workqueue_depth{name="memory"} 0'), 'it is not due yet')
  await world.clock.advance(10_000)
  await hasSamples(t, world, [
    'admission_reviews_total{door="notify",result="queued"} 1',
    'controller_runtime_reconcile_total{controller="MultiClusterIngress",result="success"} 1',
    'controller_runtime_reconcile_time_seconds_count{controller="MultiClusterIngress"} 1',
    'controller_runtime_max_concurrent_reconciles{controller="MultiClusterIngress"} 8',
    'controller_runtime_active_workers{controller="MultiClusterIngress"} 0',
    // Exports are not ours to keep, so that no key of one is looked at.
    'workqueue_adds_total{name="memory"} 1',
    'workqueue_queue_duration_seconds_count{name="memory"} 1',
    'workqueue_work_duration_seconds_count{name="memory"} 1',
    'provider_calls_total{method="getLoadBalancer",code="OK"} 1',
    'provider_calls_total{method="ensureLoadBalancer",code="OK"} 1',
    'lock_acquisitions_total{result="acquired"} 1',
    'event_to_status_seconds_count{controller="MultiClusterIngress"} 1',
    'event_to_status_seconds_sum{controller="MultiClusterIngress"} 0.05',
  ])
  t.comment('a sweep over it')
  await world.http('POST', '/sweep')
  await hasSamples(t, world, [
    'sweeps_total{scope="all",result="completed"} 1',
    `sweep_last_completed_timestamp_seconds{scope="all"} ${world.clock.now() / 1_000}`,
    'sweep_objects_total{scope="all",outcome="settled"} 1',
    'event_to_status_seconds_count{controller="MultiClusterIngress"} 1',
  ])
  const text = (await samples(world)).join('\n')
  for (const name of ['storefront', 'shop', 'somebody']) t.notOk(text.includes(name), `${name} is no label`)
})

t.test('what fails, and what is under way', async (t) => {
  let answer = () => {}
  let calls = 0
  const world = createWorld({
    config: 'propagation: { enabled: false }',
    provider: (fake) => ({
      ...fake,
      loadBalancer: {
        ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
        ensureLoadBalancer() {
          calls += 1
          if (calls === 1) return new Promise((resolve) => (answer = () => resolve({})))
          if (calls === 2) throw new RetryAfter(1_000)
          throw new Error('down')
        },
      },
    }),
  })
  await world.create(buildIngress())
  await world.http('POST', '/admission/notify', buildReview('CREATE', buildIngress()))
  await world.clock.advance(30_050)
  await hasSamples(t, world, [
    'controller_runtime_active_workers{controller="MultiClusterIngress"} 1',
    'workqueue_unfinished_work_seconds{name="memory"} 30',
    'workqueue_longest_running_processor_seconds{name="memory"} 30',
  ])
  await world.clock.advance(15_000)
  await hasSamples(t, world, [
    'provider_calls_total{method="ensureLoadBalancer",code="ProviderTimeout"} 1',
    'provider_call_duration_seconds_sum{method="ensureLoadBalancer"} 45',
    'controller_runtime_reconcile_errors_total{controller="MultiClusterIngress"} 1',
    'controller_runtime_terminal_reconcile_errors_total{controller="MultiClusterIngress"} 0',
    'reconcile_failures_total{controller="MultiClusterIngress",code="ProviderTimeout"} 1',
    'reconcile_failures_total{controller="MultiClusterIngress",code="Internal"} 0',
    'workqueue_retries_total{name="memory"} 1',
    'workqueue_longest_running_processor_seconds{name="memory"} 0',
  ])
  t.comment('it answers after all, when nobody listens any more')
  answer()
  await world.clock.advance(5_500)
  await hasSamples(t, world, [
    'provider_calls_total{method="ensureLoadBalancer",code="ProviderRetryAfter"} 1',
    'controller_runtime_reconcile_total{controller="MultiClusterIngress",result="requeue_after"} 1',
  ])
  await world.clock.advance(1_500)
  await hasSamples(t, world, ['reconcile_failures_total{controller="MultiClusterIngress",code="ProviderFailed"} 1'])
  t.notOk((await samples(world)).some((line) => line.includes('ensureLoadBalancer",code="OK"')))
})

t.test('a provider is watched without being changed', async (t) => {
  const { metrics } = measuredOnly()
  const clock = createManualClock()
  class Cloud {
    #secret = 7
    readonly name = 'private'
    readonly loadBalancer = Object.freeze({
      getLoadBalancer: async () => ({ status: { ingress: [{ ip: `192.0.2.${this.#secret}` }] } }),
      ensureLoadBalancer: async () => Promise.reject(new ImplementedElsewhere()),
      updateLoadBalancer: async () => Promise.reject('a text'),
      ensureLoadBalancerDeleted: async () => {},
      validate: () => [{ field: `${this.#secret}`, message: 'seven' }],
    })
    readonly cloudProvider = new Machines() as unknown as CloudProvider
  }
  class Machines {
    #zone = 'a'
    providerName() {
      return `machines-${this.#zone}`
    }
    loadBalancer() {
      return undefined
    }
    zones() {
      return { getZone: async () => ({ failureDomain: this.#zone, region: this.#zone }) }
    }
  }
  const seen = observeProvider(new Cloud() as never, { metrics, tracer: UNTRACED, clock })
  t.equal(seen.name, 'private')
  t.equal(seen.mcsLoadBalancer, undefined)
  t.same(await seen.loadBalancer?.getLoadBalancer({} as never, {} as never), {
    status: { ingress: [{ ip: '192.0.2.7' }] },
  })
  t.same(seen.loadBalancer?.validate?.({} as never), [{ field: '7', message: 'seven' }])
  t.equal(seen.loadBalancer?.listLoadBalancers, undefined, 'what it cannot do it still cannot')
  await t.rejects(Promise.resolve(seen.loadBalancer?.ensureLoadBalancer({} as never, {} as never)), {
    message: /alternate/,
  })
  await t.rejects(Promise.resolve(seen.loadBalancer?.updateLoadBalancer({} as never, {} as never)))
  t.equal(seen.cloudProvider?.providerName(), 'machines-a')
  t.equal(seen.cloudProvider?.loadBalancer(), undefined)
  t.equal(seen.cloudProvider?.instancesV2, undefined)
  t.match(await seen.cloudProvider?.zones()?.getZone({} as never), { region: 'a' })
  const text = await metrics.text()
  for (const [method, code] of [
    ['getLoadBalancer', 'OK'],
    ['ensureLoadBalancer', 'ImplementedElsewhere'],
    ['updateLoadBalancer', 'ProviderFailed'],
    ['getZone', 'OK'],
  ]) {
    t.ok(text.includes(`provider_calls_total{method="${method}",code="${code}"} 1`), `${method} ${code}`)
  }
})

t.test('requests to the API server, by client-go’s names', async (t) => {
  const stub = await startStubApiServer()
  const host = new URL(stub.url).host
  stub.answerEach(({ method }) => ({
    status: method === 'GET' ? 404 : 429,
    body: { kind: 'Status', reason: 'NotFound', details: { name: 'web' } },
  }))
  const directory = t.testdir({ kubeconfig: kubeconfigOf({ url: stub.url, caPem: stub.caPem, token: 't', user: 'u' }) })
  const config = loadKubeConfig({ kind: 'file', path: join(directory, 'kubeconfig') })
  const { metrics } = measuredOnly()
  const store = createKubernetesClusterStore(config, { timeoutMs: 5_000, clock: createManualClock(), metrics })
  const key = { kind: 'Service', namespace: 'shop', name: 'web' } as const
  const options = { signal: new AbortController().signal }
  const patch = { type: 'merge', body: {} } as const
  await store.get(key, options).catch(() => {})
  await t.rejects(store.patch(key, patch, options), { code: 'ApiThrottled' })
  await stub.close()
  await t.rejects(store.patch(key, patch, options), { code: 'ApiUnreachable' })
  await store.close()
  const text = await metrics.text()
  for (const line of [
    `rest_client_requests_total{code="404",method="GET",host="${host}"} 1`,
    `rest_client_requests_total{code="429",method="PATCH",host="${host}"} 1`,
    `rest_client_requests_total{code="<error>",method="PATCH",host="${host}"} 1`,
    `rest_client_request_duration_seconds_count{verb="PATCH",host="${host}"} 2`,
  ]) {
    t.ok(text.includes(line), line)
  }
})

t.test('/metrics stays cheap', async (t) => {
  const world = createWorld()
  const began = performance.now()
  for (let scrape = 0; scrape < 50; scrape += 1) await world.http('GET', '/metrics')
  const each = (performance.now() - began) / 50
  t.comment(`${each.toFixed(2)} ms a scrape`)
  t.ok(each < 50)
  t.same(world.requests, [], 'and asks nobody')
})

/** Of apiserver/pkg/admission/metrics. */
const API_SERVER_METRICS = [
  { name: 'apiserver_admission_webhook_fail_open_count', labels: ['name', 'type'] },
  {
    name: 'apiserver_admission_webhook_rejection_count',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  },
]

// What Prometheus adds to every series it scrapes.
const SCRAPE_LABELS = ['job', 'instance']

interface Known {
  labels: readonly string[]
  help: string
}

function findMetric(name: string): Known | undefined {
  const ofServer = API_SERVER_METRICS.find((metric) => metric.name === name)
  if (ofServer !== undefined) return { ...ofServer, help: 'no_error calling_webhook_error' }
  return METRIC_CATALOGUE.flatMap(({ name: base, type, labels, help }): (Known & { name: string })[] =>
    type === 'histogram'
      ? [
          { name: `${base}_bucket`, labels: [...labels, 'le'], help },
          { name: `${base}_sum`, labels, help },
          { name: `${base}_count`, labels, help },
        ]
      : [{ name: base, labels, help }],
  ).find((metric) => metric.name === name)
}

const PROVIDER_CODES = ['OK', 'ImplementedElsewhere']
const DOORS = ['/admission/mutate', '/admission/validate', '/admission/notify', '/events', '/sweep']
const WEBHOOKS = ['mutate', 'validate', 'notify', 'notify-services'].map((door) => `${door}.webhook-cloud-provider.dev`)
const CODES = ['200', '401', '403', '404', '409', '429', '500', '503', '<error>']

/** Some value of the label that this matcher could mean: none means that it selects nothing, whatever happens. */
function selectsSomething({ label, operator, value }: Query['selectors'][number]['matchers'][number], help: string) {
  const values: Partial<Record<string, readonly string[]>> = {
    scope: SWEEP_SCOPES,
    door: DOORS,
    name: WEBHOOKS,
    status: CODES,
    code: [...Object.keys(ERROR_CODES), ...PROVIDER_CODES, ...CODES],
  }
  const known = values[label] ?? help.match(/\w+/g) ?? []
  const wanted = operator.endsWith('~') && !/[.[\]+*]/.test(value) ? value.split('|') : [value]
  return wanted.every((text) =>
    operator.endsWith('~') ? known.some((one) => new RegExp(`^(?:${text})$`).test(one)) : known.includes(text),
  )
}

/** Every fault of an expression against the metrics there are; empty when it is sound. */
function faultsOf(expression: string): string[] {
  const { faults, selectors, groupedBy } = readQuery(expression)
  if (selectors.length === 0) faults.push('asks for no metric')
  const labels = new Set(SCRAPE_LABELS)
  for (const { metric, matchers } of selectors) {
    const known = findMetric(metric)
    if (known === undefined) {
      faults.push(`no metric ${metric}`)
      continue
    }
    for (const label of known.labels) labels.add(label)
    for (const matcher of matchers) {
      if (!known.labels.includes(matcher.label)) faults.push(`${metric} has no label ${matcher.label}`)
      else if (!selectsSomething(matcher, known.help))
        faults.push(`${metric}: ${matcher.label} is never ${matcher.value}`)
    }
  }
  for (const label of groupedBy) if (!labels.has(label)) faults.push(`nothing has a label ${label}`)
  return faults
}

t.test('expressions that are wrong are found', async (t) => {
  t.same(faultsOf('sum(rate(workqueue_adds_total[5m]))'), [])
  for (const wrong of [
    'sum(rate(workqueue_adds_total[5m])',
    'sum(rate(workqueue_additions_total[5m]))',
    'sum by (controller) (workqueue_depth)',
    'workqueue_depth{controller="x"}',
    'admission_reviews_total{result="queueful"}',
    'sweeps_total{scope=~"all|everything"}',
    'reconcile_failures_total{code="Interal"}',
    'provider_call_duration_seconds',
    '42',
  ]) {
    t.not(faultsOf(wrong).length, 0, wrong)
  }
})

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}

function alertRules(): Rule[] {
  const { groups } = parseYaml(read(`${MONITORING}/alerts.yaml`)) as { groups: { rules: Rule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** Anchors, as GitHub makes them. */
function headingsOf(path: string): string[] {
  return [...read(path).matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'))
}

/** `{{ $labels.name }}`, `{{name}}`. */
function templatedLabels(text: string): string[] {
  return [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label)
}

t.test('alerts ask for metrics there are, and lead to what to do', async (t) => {
  const rules = alertRules()
  for (const { alert, expr, labels, annotations } of rules) {
    t.same(faultsOf(expr), [], alert)
    t.match(labels.severity, /^(info|warning|critical)$/)
    t.equal(annotations.runbook, `docs/alerts.md#${alert.toLowerCase()}`)
    const { groupedBy } = readQuery(expr)
    for (const label of templatedLabels(annotations.summary)) t.ok(groupedBy.includes(label), `${alert} tells ${label}`)
  }
  t.same(
    rules.map(({ alert }) => alert.toLowerCase()).sort(),
    headingsOf('docs/alerts.md').sort(),
    'each has a section',
  )
  const { spec } = parseYaml(read(`${MONITORING}/prometheus-rule.yaml`)) as { spec: unknown }
  t.strictSame(spec, parseYaml(read(`${MONITORING}/alerts.yaml`)), 'the operator gets the same rules')
})

interface Panel {
  id: number
  title: string
  type: string
  gridPos: { x: number; w: number }
  targets?: { expr: string; legendFormat: string; datasource: { uid: string } }[]
}

t.test('the dashboard asks for metrics there are', async (t) => {
  const { panels } = JSON.parse(read(`${MONITORING}/dashboard.json`)) as { panels: Panel[] }
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'ids are its own')
  for (const { title, type, targets = [], gridPos } of panels) {
    t.ok(gridPos.x + gridPos.w <= 24, title)
    if (type !== 'row') t.not(targets.length, 0, title)
    for (const { expr, legendFormat, datasource } of targets) {
      t.same(faultsOf(expr), [], `${title}: ${expr}`)
      t.match(datasource.uid, /^\$\{datasource\}$/)
      const { groupedBy } = readQuery(expr)
      for (const label of templatedLabels(legendFormat)) t.ok(groupedBy.includes(label), `${title} tells ${label}`)
    }
  }
})

const promtool = spawnSync('promtool', ['--version']).status === 0
const withPromtool = promtool ? {} : { skip: 'promtool is not installed: apt-get install -y prometheus' }

t.test('Prometheus takes the rules, and they fire', withPromtool, async (t) => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: ROOT, encoding: 'utf8' })
    t.equal(status, 0, `${stdout}${stderr}`)
  }
  run('check', 'rules', `${MONITORING}/alerts.yaml`)
  run('test', 'rules', 'test/monitoring/alerts.yaml')
  const firing = [...read('test/monitoring/alerts.yaml').matchAll(/alertname="(\w+)"/g)].map(([, alert]) => alert)
  for (const { alert } of alertRules()) t.ok(firing.includes(alert), `${alert} is seen to fire`)
})

const kubectl = findKubectl()

t.test('kustomize renders it', kubectl === undefined ? { skip: 'kubectl is not installed' } : {}, async (t) => {
  const text = execFileSync(kubectl ?? '', ['kustomize', join(ROOT, MONITORING)], { encoding: 'utf8' })
  t.match(text, /kind: PrometheusRule/)
  t.match(text, /grafana_dashboard: "1"/)
  t.match(text, /webhook-cloud-provider\.json: \|/)
})
