import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { natsServerMissing, startNatsServer } from '../../support/nats-server.ts'
import type { Scenario } from '../scenario.ts'
import { backend, ingress, ingressPath } from '../support/balanced-objects.ts'
import { eachOf, names } from '../support/each-of.ts'
import { type Installation, withInstallation } from '../support/installation.ts'
import { type Killable, startKillable } from '../support/killable.ts'
import { type Mood, serveCloud } from '../support/remote-cloud.ts'

const FUNCTION_PROCESS = join(import.meta.dirname, '../function-process.ts')
const COUNT = 200
const KILLS = 50
const FREEZES = 10
// The shortest that the configuration takes, and longer than both.
const LEASE = { durationSeconds: 5, marginSeconds: 2 }
const FROZEN_MS = 7_500

/** The same numbers on every run; when something happens is the machine's choice. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export const scenario: Scenario = {
  name: 'three processes over one stream, killed and frozen at random: nothing doubled, leaked or lost',
  beside: true,
  async run(context) {
    const missing = natsServerMissing(process.env)
    if (missing !== undefined) return context.log(`not run: ${missing}`)
    const { admin } = context
    const namespace = 'three-processes'
    const random = createRandom(20_260_301)
    await withInstallation(context, namespace, async (installed) => {
      // For its port and certificate, and for the webhooks to be in force.
      await installed.start()
      await installed.register()
      await installed.stop()
      const stream = await startNatsServer()
      const moods = { throttle: 0, late: 0 }
      const cloud = await serveCloud(installed.cloud, () => moodOf(random(), moods))
      const fleet = await startFleet(installed, { stream: stream.url, cloud: cloud.url })
      try {
        await fleet.ready()
        const trouble = makeTrouble(fleet, random)
        const all = names('mci', COUNT)
        const changed = all.slice(0, 60)
        const deleted = all.slice(100, 150)
        await eachOf(all, 4, (name) => mustBe(201, admin.post(ingressPath(namespace), ingress(name))))
        await eachOf(changed, 4, (name) =>
          mustBe(
            200,
            admin.patch('merge-patch', ingressPath(namespace, name), { spec: { defaultBackend: backend(81) } }),
          ),
        )
        await eachOf(deleted, 4, (name) => mustBe(200, admin.delete(ingressPath(namespace, name))))
        await trouble.done
        await fleet.ready()
        await eventually(
          async () => {
            await fleet.sweep()
            await installed.converged(COUNT - deleted.length)
          },
          90_000,
          1_000,
        )
        assert.ok(trouble.kills >= KILLS && trouble.freezes >= FREEZES, 'trouble was made')
        context.log(
          `${COUNT} created, ${changed.length} changed, ${deleted.length} deleted under ${trouble.kills} kills and ${trouble.freezes} freezes of ${FROZEN_MS} ms, ` +
            `${moods.throttle} calls throttled, ${moods.late} done late: 0 doubled, 0 leaked, 0 lost`,
        )
      } catch (error) {
        for (const { running } of fleet.members) context.log(running.output().split('\n').slice(-25).join('\n'))
        throw error
      } finally {
        await fleet.close()
        await cloud.close()
        await stream.close()
      }
    })
  },
}

function moodOf(chance: number, moods: { throttle: number; late: number }): Mood {
  if (chance > 0.1) return undefined
  const mood = chance < 0.05 ? 'throttle' : 'late'
  moods[mood] += 1
  return mood
}

interface Member {
  running: Killable
  restart(): void
}

interface Fleet {
  members: Member[]
  ready(): Promise<void>
  sweep(): Promise<void>
  close(): Promise<void>
}

/** The first listens where the webhooks are registered; all take from one stream and share the Leases. */
async function startFleet(
  installed: Installation,
  { stream, cloud }: { stream: string; cloud: string },
): Promise<Fleet> {
  const own = JSON.parse(await readFile(installed.configFile, 'utf8')) as { server: { port: number } }
  const members = await Promise.all(
    [own.server.port, 0, 0].map(async (port, index): Promise<Member> => {
      const configFile = join(installed.directory, `config-${index}.json`)
      const queue = { kind: 'jetstream', servers: [stream], ackWaitMs: 8_000 }
      await writeFile(
        configFile,
        JSON.stringify({ ...own, server: { ...own.server, port }, queue, lock: 'lease', lease: LEASE }),
      )
      const start = () => startKillable(FUNCTION_PROCESS, [configFile, cloud])
      const member: Member = {
        running: start(),
        restart() {
          member.running = start()
        },
      }
      return member
    }),
  )
  const dispatcher = new Agent({ connect: { ca: installed.caPem } })
  return {
    members,
    ready: () => installed.ready(),
    async sweep() {
      const { statusCode, body } = await request(`${installed.url}/sweep`, { method: 'POST', dispatcher })
      assert.equal(statusCode, 200, await body.text())
    },
    async close() {
      for (const member of members) member.running.thaw()
      await Promise.all(members.map((member) => member.running.kill()))
      await dispatcher.destroy()
    },
  }
}

/** One after the other: every sixth time somebody is frozen beyond the Lease, else somebody is killed and started again. */
function makeTrouble(fleet: Fleet, random: () => number) {
  const trouble = { kills: 0, freezes: 0, done: Promise.resolve() }
  const make = async () => {
    while (trouble.kills < KILLS || trouble.freezes < FREEZES) {
      await pause(100 + random() * 500)
      const member = fleet.members[Math.floor(random() * fleet.members.length)]
      if (member === undefined) continue
      if (trouble.freezes < FREEZES && random() < 0.2) {
        member.running.freeze()
        await pause(FROZEN_MS)
        member.running.thaw()
        trouble.freezes += 1
      } else {
        await member.running.kill()
        member.restart()
        trouble.kills += 1
      }
    }
  }
  trouble.done = make()
  return trouble
}
