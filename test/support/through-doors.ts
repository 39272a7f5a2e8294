import t, { type Test } from 'tap'
import type { Service, ServiceSpec } from '../../src/domain/service.ts'
import { buildNode, buildWeb, WEB } from './build-cluster.ts'
import {
  CLOUD_DOORS,
  type CloudDoor,
  createServiceWorld,
  type ServiceWorld,
  type ServiceWorldOptions,
} from './service-world.ts'

type Story = (t: Test, door: CloudDoor) => Promise<void>

/** One test a door; the title begins with the number of the case. */
export function throughDoors(title: string, story: Story, doors: readonly CloudDoor[] = CLOUD_DOORS): void {
  t.test(title, async (t) => {
    for (const door of doors) await t.test(door, (t) => story(t, door))
  })
}

interface ServedOptions extends ServiceWorldOptions {
  nodes?: number
  spec?: ServiceSpec
  annotations?: Record<string, string>
}

/** `S1` of the cases: `web` is served by two nodes, and what led to it is forgotten. */
export async function servedWorld({
  nodes = 2,
  spec,
  annotations,
  ...options
}: ServedOptions = {}): Promise<ServiceWorld> {
  const all = Array.from({ length: nodes }, (_, index) => buildNode(index + 1))
  const world = createServiceWorld({ objects: all, ...options })
  await world.create(buildWeb(spec, annotations === undefined ? {} : { annotations }))
  await world.settle()
  if (addressesOf(world).length === 0) throw new Error(`not served: ${world.events().join('; ')}`)
  world.mark()
  return world
}

/** What is published of `web`. */
export function addressesOf(world: ServiceWorld): (string | undefined)[] {
  return (webOf(world)?.status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname)
}

export function webOf(world: ServiceWorld): Service | undefined {
  return world.read(WEB)
}

/** Two sweeps over a world that nobody touches: nothing is written, nothing changes in the cloud. */
export async function assertQuiet(t: Test, world: ServiceWorld): Promise<void> {
  await world.clock.advance(1_000)
  world.mark()
  await world.sweep()
  await world.sweep()
  t.same([world.writes(), world.changes(), world.events()], [[], [], []], 'a quiet world is left alone')
}
