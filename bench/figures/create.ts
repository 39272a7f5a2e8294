import { webhookConfigurations } from '../../src/compose/webhook-configurations.ts'
import { type Binaries, MissingTools, provideBinaries } from '../../test/apiserver/binaries.ts'
import { installCrds } from '../../test/apiserver/install-crds.ts'
import { startApiServer } from '../../test/apiserver/start-api-server.ts'
import { ingressPath } from '../../test/apiserver/support/balanced-objects.ts'
import { type ApiClient, createApiClient } from '../../test/contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../test/contracts/kubernetes-api/bench.ts'
import { eventually } from '../../test/contracts/kubernetes-api/eventually.ts'
import { FINALIZER } from '../../test/support/build-objects.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Bench } from '../bench.ts'
import { ASKED } from '../bounds.ts'
import { CannotMeasure, type Figure } from '../figure.ts'
import { interleaved } from '../rounds.ts'
import { compared, counted } from '../row.ts'
import { median } from '../statistics.ts'
import { floorServer, nodeLeaf } from '../support/leaf-commands.ts'
import { type MeasuredProcess, startMeasured } from '../support/measured-process.ts'
import { ingressOf5Kb } from '../support/reviews.ts'
import { startStubCluster } from '../support/stub-cluster.ts'

const NAMESPACE = 'bench'
/** Created one after the other, before it is the other one's turn. */
const CREATES = 5

/**
 * Creates on a real API server that asks our mutate and notify doors, two bare servers, two of which one patches the object
 * as ours does, which is work for the API server, or nobody.
 */
export const create: Figure = {
  name: 'create',
  slow: true,
  async run(bench) {
    const server = await startApiServer({ binaries: await binariesAtHand(), log: bench.log })
    const admin = createApiClient({ url: server.url, caPem: server.caPem, token: server.adminToken })
    // The work behind the doors finds nothing to do: it has a figure of its own.
    const cluster = await startStubCluster()
    const servers: MeasuredProcess[] = []
    try {
      await prepare(admin)
      const [ours, mutate, notify, patching] = [await freePort(), await freePort(), await freePort(), await freePort()]
      for (const [port, command] of [
        [ours, await nodeLeaf(bench, ours, cluster)],
        [mutate, await floorServer(bench, mutate, { name: 'bare-https' })],
        [notify, await floorServer(bench, notify, { name: 'bare-https' })],
        [patching, await floorServer(bench, patching, { name: 'bare-https', finalizer: FINALIZER })],
      ] as const) {
        const started = startMeasured(command)
        servers.push(started)
        await started.listening(port)
      }
      await register(admin, 'floor', { mutate, notify }, bench)
      await register(admin, 'patching', { mutate: patching, notify }, bench)
      await register(admin, 'ours', { mutate: ours, notify: ours }, bench)
      await inForce(admin)
      const variants = {
        ours: creates(admin, 'ours'),
        floor: creates(admin, 'floor'),
        patching: creates(admin, 'patching'),
        nobody: creates(admin, 'nobody'),
      }
      return await interleaved(
        variants,
        ({ ours, floor, patching, nobody }) => [
          compared(
            { name: 'create on the API server: p50', unit: 'ms', ours: ours.ms, floor: floor.ms, clock: true },
            ASKED.create,
          ),
          compared({
            name: 'create on the API server, beside webhooks that patch: p50',
            unit: 'ms',
            ours: ours.ms,
            floor: patching.ms,
            clock: true,
          }),
          counted({ name: 'create on the API server, no webhooks: p50', unit: 'ms', ours: nobody.ms, clock: true }),
        ],
        { ...bench, rounds: bench.rounds ?? 41, seconds: 30 },
      )
    } finally {
      for (const started of servers) await started.kill()
      await cluster.close()
      await admin.close()
      await server.stop()
    }
  },
}

/** What `npm run test:apiserver` has built: that takes minutes, and is not done on the way. */
async function binariesAtHand(): Promise<Binaries> {
  const { HOME, XDG_CACHE_HOME, KUBEBUILDER_ASSETS } = process.env
  try {
    return await provideBinaries({ env: { HOME, XDG_CACHE_HOME, KUBEBUILDER_ASSETS, PATH: '/none' }, log: () => {} })
  } catch (error) {
    if (error instanceof MissingTools) throw new CannotMeasure('no API server is built: npm run test:apiserver does it')
    throw error
  }
}

async function prepare(admin: ApiClient): Promise<void> {
  await installCrds(admin)
  await mustBe(
    201,
    admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }),
  )
}

type Asked = 'ours' | 'floor' | 'patching' | 'nobody'

async function register(
  admin: ApiClient,
  asked: Asked,
  ports: { mutate: number; notify: number },
  { tls }: Bench,
): Promise<void> {
  const { caPem } = tls
  const doors = ['mutate', 'notify'] as const
  for (const configuration of webhookConfigurations({ url: '', caPem, finalizer: FINALIZER })) {
    const webhooks = configuration.webhooks.flatMap((webhook) => {
      const door = doors.find((name) => webhook.name.startsWith(`${name}.`))
      if (door === undefined) return []
      const url = `https://127.0.0.1:${ports[door]}/admission/${door}`
      const clientConfig = { ...webhook.clientConfig, url }
      return { ...webhook, clientConfig, objectSelector: { matchLabels: { asked } } }
    })
    const plural = `${configuration.kind.toLowerCase()}s`
    const body = { ...configuration, metadata: { name: `bench-${asked}` }, webhooks }
    await mustBe(201, admin.post(`/apis/admissionregistration.k8s.io/v1/${plural}`, body))
  }
}

/** Until our finalizer comes with a create; what is registered later is asked later. */
async function inForce(admin: ApiClient): Promise<void> {
  await eventually(async () => {
    const { metadata } = await mustBe(
      201,
      admin.post(`${ingressPath(NAMESPACE)}?dryRun=All`, ingressFor('ours', 'probe')),
    )
    if (metadata.finalizers?.includes(FINALIZER) !== true) throw new Error('our webhook is not asked yet')
  }, 20_000)
}

function creates(admin: ApiClient, asked: Asked): () => Promise<{ ms: number }> {
  let created = 0
  return async () => {
    const times: number[] = []
    for (let each = 0; each < CREATES; each += 1) {
      created += 1
      const started = performance.now()
      const answer = await admin.post(ingressPath(NAMESPACE), ingressFor(asked, `${asked}-${created}`))
      times.push(performance.now() - started)
      if (answer.code !== 201) throw new Error(answer.text)
    }
    return { ms: median(times) }
  }
}

function ingressFor(asked: Asked, name: string): object {
  const { metadata, ...ingress } = ingressOf5Kb(name)
  const { labels } = metadata
  return { ...ingress, metadata: { name, labels: { ...labels, asked } } }
}
