import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../../../src/compose/finish-manifests.ts'
import { parseManifests } from '../../../src/compose/manifest-file.ts'
import { NAME, OVERLAYS, type Overlay } from '../../../src/compose/overlay.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { withForeignCrds } from '../support/foreign-crds.ts'
import { withNamespaceController } from '../support/namespace-controller.ts'

const MANIFESTS = join(import.meta.dirname, '../../../manifests')
const FILES = Object.values(OVERLAYS).flatMap(({ targets }: Overlay) =>
  Object.values(targets).map(({ rendered }) => rendered),
)
const PODS = `/api/v1/namespaces/${NAME}/pods`

/** The kinds of Knative and cert-manager are there without their rules; everything else is what Kubernetes makes of it. */
export const scenario: Scenario = {
  name: 'every rendered manifest is applied as a whole, applied again without a change, and taken away',
  async run(context) {
    await withNamespaceController(context.admin, ['webhook-cloud-provider'], () =>
      withForeignCrds(context, async () => {
        // Others have left objects of these names.
        for (const file of FILES) await remove(context, file)
        for (const file of FILES) await applyAndRemove(context, file)
      }),
    )
  },
}

async function applyAndRemove(context: ScenarioContext, file: string): Promise<void> {
  const { kubectl, log } = context
  const path = join(MANIFESTS, file)
  const { objects } = parseManifests(readFileSync(path, 'utf8'))
  const first = await kubectl(['apply', '--validate=strict', '-f', path])
  try {
    assert.equal(lines(first.stdout).length, objects.length, first.stdout)
    assert.ok(
      lines(first.stdout).every((line) => line.endsWith(' created')),
      first.stdout,
    )
    assert.equal(first.stderr, '', 'warnings')
    const before = await versionsOf(context, path)
    assert.equal(before.length, objects.length)
    await kubectl(['apply', '--validate=strict', '-f', path])
    assert.deepEqual(await versionsOf(context, path), before, 'changed when applied again')
    const pods = await podsAreAdmitted(context, objects)
    log(`${file}: ${objects.length} objects, ${pods} kinds of pods admitted`)
  } finally {
    await remove(context, file)
  }
  const left = await Promise.all(
    objects.map(({ kind, apiVersion, metadata }) =>
      kubectl([
        'get',
        '--ignore-not-found',
        '-o',
        'name',
        resourceOf(kind, apiVersion),
        metadata.name,
        ...(metadata.namespace === undefined ? [] : ['-n', metadata.namespace]),
      ]),
    ),
  )
  assert.equal(left.map(({ stdout }) => stdout).join(''), '', 'left')
}

async function versionsOf({ kubectl }: ScenarioContext, path: string): Promise<string[]> {
  const { stdout } = await kubectl(['get', '-f', path, '-o', `go-template={{range .items}}${VERSION}{{end}}`])
  return lines(stdout)
}

const VERSION = '{{.kind}} {{.metadata.name}} {{.metadata.resourceVersion}}{{"\\n"}}'

function remove({ kubectl }: ScenarioContext, file: string) {
  return kubectl(['delete', '--ignore-not-found', '-f', join(MANIFESTS, file)])
}

/** `pod-security.kubernetes.io/enforce` of the namespace lets every pod of the manifest pass, and no other. */
async function podsAreAdmitted({ admin }: ScenarioContext, objects: readonly Manifest[]): Promise<number> {
  const namespace = objects.find(({ kind }) => kind === 'Namespace')
  const labels = (namespace?.metadata['labels'] ?? {}) as Record<string, string>
  const level = labels['pod-security.kubernetes.io/enforce']
  if (level === undefined) return 0
  const create = (spec: object) =>
    admin.post(`${PODS}?dryRun=All`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probe' }, spec })
  const onTheHostsNetwork = { hostNetwork: true, containers: [{ name: 'a', image: 'a' }] }
  await eventually(() => mustBe(level === 'privileged' ? 201 : 403, create(onTheHostsNetwork)))
  const specs = objects.flatMap(podSpecsOf)
  for (const spec of specs) await mustBe(201, create(spec))
  return specs.length
}

function podSpecsOf({ kind, apiVersion, spec }: Manifest): object[] {
  const { template, jobTemplate } = (spec ?? {}) as Templates
  const pod = (template ?? jobTemplate?.spec?.template)?.spec
  if (pod === undefined) return []
  if (kind === 'Service' && apiVersion.startsWith('serving.knative.dev')) return [asKnativeMakesIt(pod)]
  return [pod]
}

interface Templates {
  template?: { spec?: object }
  jobTemplate?: { spec?: { template?: { spec?: object } } }
}

/** Knative adds its own container and takes its own settings away; ports of probes are the container's. */
function asKnativeMakesIt(revision: object): object {
  const { containerConcurrency: _, timeoutSeconds: __, ...pod } = revision as Record<string, unknown>
  const text = JSON.stringify(pod, (key, value: object) => (key === 'httpGet' ? { port: 8080, ...value } : value))
  return JSON.parse(text) as object
}

function resourceOf(kind: string, apiVersion: string): string {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return `${kind}.${version}.${group}`
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean)
}
