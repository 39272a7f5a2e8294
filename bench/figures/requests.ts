import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import { buildCloudEvent, ourWebhooks } from '../../test/support/api-callers.ts'
import {
  buildClass,
  buildIngress,
  buildSecret,
  buildServiceWorld,
  FINALIZER,
} from '../../test/support/build-objects.ts'
import { createWorld, IDENTITY, type World } from '../../test/support/world.ts'
import { MOST_WRITES, mostReads } from '../bounds.ts'
import type { Figure } from '../figure.ts'
import { counted, type Row } from '../row.ts'

const KEY = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const

/** What happens to an ingress. */
const STEPS: readonly {
  name: keyof typeof MOST_WRITES
  act(world: World, ingress: MultiClusterIngress): Promise<unknown>
}[] = [
  { name: 'created', act: (world, ingress) => world.create(ingress) },
  {
    name: 'updated without effect',
    act: (world) => world.edit(KEY, { metadata: { labels: { team: 'a' } } }),
  },
  { name: 'told of once more', act: tellAgain },
  { name: 'deleted', act: (world) => world.remove(KEY) },
]

/** What brings no state to compare with: an event, a sweep. */
function tellAgain(world: World): Promise<unknown> {
  return world.http('POST', '/events', buildCloudEvent('update', world.read(KEY) as never))
}

/** Requests to the API server for one ingress, as its webhooks tell of it. Nothing is timed. */
export const requestsFigure: Figure = {
  name: 'requests',
  async run() {
    const rows: Row[] = []
    for (const shape of [
      { services: 1, secrets: 0 },
      { services: 3, secrets: 1 },
    ])
      rows.push(...(await rowsOf(shape)))
    return rows
  },
}

interface Shape {
  services: number
  secrets: number
}

async function rowsOf(shape: Shape): Promise<Row[]> {
  const { services, secrets } = shape
  const alone = await requestsOf(shape, 'propagation: { enabled: false }')
  const withExports = await requestsOf(shape, '')
  const withLease = await requestsOf(shape, 'propagation: { enabled: false }\nlock: lease\nlease: { namespace: shop }')
  return STEPS.flatMap(({ name }, step) => {
    const of = `${name}, ${services} Services, ${secrets} Secrets`
    const [own = [], exported = [], leased = []] = [alone[step], withExports[step], withLease[step]]
    const count = (what: string, value: number) => ({ name: `requests, ${of}: ${what}`, unit: '', ours: [value] })
    return [
      counted(count('reads', own.filter(isRead).length), { bound: { atMost: mostReads(shape) } }),
      counted(count('writes', own.filter(isWrite).length), { bound: { atMost: MOST_WRITES[name] } }),
      ...verbsOf(own).map(([verb, times]) => counted(count(`of these ${verb}`, times))),
      counted(count('for exports besides', exported.length - own.length)),
      counted(count('for the Lease besides', leased.length - own.length)),
    ]
  })
}

/** Of each step. */
async function requestsOf({ services, secrets }: Shape, config: string): Promise<string[][]> {
  const names = Array.from({ length: services }, (_, index) => `web-${index}`)
  const secretNames = Array.from({ length: secrets }, (_, index) => `tls-${index}`)
  const world = createWorld({
    objects: [
      buildClass(),
      ...names.flatMap((name) => buildServiceWorld(name)),
      ...secretNames.map((name) => buildSecret(name)),
    ],
    webhooks: ourWebhooks(FINALIZER, IDENTITY),
    config,
  })
  const ingress = buildIngress({
    spec: {
      ingressClassName: 'multicloud',
      rules: names.map((name) => ({
        host: `${name}.example.com`,
        http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port: { number: 80 } } } }] },
      })),
      tls: secretNames.map((secretName) => ({ secretName })),
    },
  })
  const steps: string[][] = []
  for (const { act } of STEPS) {
    world.requests.length = 0
    await act(world, ingress)
    await world.clock.advance(60_000)
    steps.push([...world.requests])
  }
  if (world.balancers().length > 0 || world.read(KEY) !== undefined) throw new Error('the ingress is still there')
  return steps
}

function verbsOf(requests: readonly string[]): [verb: string, times: number][] {
  const byVerb = Map.groupBy(requests, (request) => request.split(' ', 1)[0] ?? '')
  return [...byVerb].map(([verb, those]) => [verb, those.length])
}

function isRead(request: string): boolean {
  return /^(get|list) /.test(request)
}

function isWrite(request: string): boolean {
  return !isRead(request)
}
