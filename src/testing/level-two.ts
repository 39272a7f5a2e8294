import { sameLoadBalancerStatus } from '../domain/load-balancer-status.ts'
import type { BalancerIdentity, ListedBalancer } from '../provider/multicluster.ts'
import { type Bench, CLUSTER_ID } from './bench.ts'
import type { ConformanceCheck } from './conformance-check.ts'
import { demand } from './conformance-fault.ts'
import { fingerprintOf } from './tested-balancer.ts'

/** What happens when calls overlap, answers are lost, and others are in the same account. */
export const LEVEL_TWO: readonly ConformanceCheck[] = [
  {
    name: 'overlapping-ensures',
    level: 2,
    contract: 'calls for one identity that overlap make one balancer',
    async run(bench) {
      const identity = bench.identity()
      await Promise.all([bench.ensure(identity), bench.ensure(identity), bench.ensure(identity)])
      const first = (await bench.get(identity))?.status
      await bench.ensure(identity)
      demand(
        sameLoadBalancerStatus((await bench.get(identity))?.status, first),
        'addresses change after overlapping ensures',
      )
      await demandListed(bench, identity, 1, 'overlapping ensures')
      await bench.delete(identity)
      demand((await bench.get(identity)) === undefined, 'one delete does not remove what overlapping ensures made')
    },
  },
  {
    name: 'overlapping-ensure-and-delete',
    level: 2,
    contract: 'whichever of ensure and delete comes last, a further delete leaves nothing',
    async run(bench) {
      const identity = bench.identity()
      const request = { identity, revision: 1, signal: new AbortController().signal }
      const { balancer } = bench
      // One call each: waited for, in a cloud that takes its time, they would undo each other for ever.
      const calls = [
        balancer.ensure(request),
        balancer.delete(request),
        balancer.ensure(request),
        balancer.delete(request),
      ]
      const outcomes = await Promise.all(calls.map((call) => bench.outcomeOf(call)))
      demand(!outcomes.includes('pending'), 'a call does not settle')
      await bench.delete(identity)
      demand((await bench.get(identity)) === undefined, 'a balancer is left')
      await demandListed(bench, identity, 0, 'ensure and delete')
    },
  },
  {
    name: 'answer-lost',
    level: 2,
    contract: 'what an aborted call left behind is found by the next get or ensure, and goes with the delete',
    async run(bench) {
      const identity = bench.identity()
      const controller = new AbortController()
      const lost = bench.balancer.ensure({ identity, revision: 1, signal: controller.signal })
      controller.abort(new Error('deadline'))
      demand((await bench.outcomeOf(lost)) !== 'pending', 'ensure does not settle after its signal fired')
      await bench.ensure(identity)
      const record = await bench.get(identity)
      demand(record !== undefined, 'get does not see what ensure finished')
      await demandListed(bench, identity, 1, 'a lost answer')
      await bench.delete(identity)
      demand((await bench.get(identity)) === undefined, 'the delete leaves what the aborted call made')
    },
  },
  {
    name: 'answer-lost-midway',
    level: 2,
    contract: 'the same at whichever moment the caller gives up',
    async run(bench) {
      for (const ms of GIVEN_UP_AT.filter((each) => each > 0)) {
        const identity = bench.identity()
        const settles = await givenUp(bench, ms, (signal) => bench.balancer.ensure({ identity, revision: 1, signal }))
        demand(settles, `ensure does not settle after its signal fired at ${ms} ms`)
        await bench.ensure(identity)
        demand(
          (await bench.get(identity)) !== undefined,
          `get does not see what ensure finished (given up at ${ms} ms)`,
        )
        await demandListed(bench, identity, 1, `an answer lost at ${ms} ms`)
        await bench.delete(identity)
        demand((await bench.get(identity)) === undefined, `the delete leaves what was made (given up at ${ms} ms)`)
      }
    },
  },
  {
    name: 'update-answer-lost',
    level: 2,
    contract: 'an update that is aborted leaves the balancer there, and the next one brings it to what is asked',
    async run(bench) {
      for (const ms of GIVEN_UP_AT) {
        const identity = bench.identity()
        await bench.ensure(identity)
        const first = (await bench.get(identity))?.status
        const settles = await givenUp(bench, ms, (signal) => bench.balancer.update({ identity, revision: 2, signal }))
        demand(settles, `update does not settle after its signal fired at ${ms} ms`)
        demand(
          (await bench.get(identity)) !== undefined,
          `the balancer is gone after an update that was aborted at ${ms} ms`,
        )
        await bench.update(identity, 2)
        const record = await bench.get(identity)
        demand(sameLoadBalancerStatus(record?.status, first), `the address changed (given up at ${ms} ms)`)
        demand(
          record?.fingerprint === undefined || record.fingerprint === fingerprintOf(2),
          `get answers the fingerprint ${record?.fingerprint} after an update with ${fingerprintOf(2)}`,
        )
      }
    },
  },
  {
    name: 'delete-answer-lost',
    level: 2,
    contract: 'a delete that is aborted is finished by the next one; nothing comes back',
    async run(bench) {
      for (const ms of GIVEN_UP_AT) {
        const identity = bench.identity()
        await bench.ensure(identity)
        const settles = await givenUp(bench, ms, (signal) => bench.balancer.delete({ identity, revision: 1, signal }))
        demand(settles, `delete does not settle after its signal fired at ${ms} ms`)
        await bench.delete(identity)
        demand(
          (await bench.get(identity)) === undefined,
          `the balancer is there after a delete that followed an aborted one (given up at ${ms} ms)`,
        )
        await demandListed(bench, identity, 0, 'a delete that followed an aborted one')
      }
    },
  },
  {
    name: 'list-is-the-record',
    level: 2,
    contract: 'list names every balancer of this cluster and kind, whole, and no other',
    skip: withoutList,
    async run(bench) {
      const one = bench.identity()
      const two = bench.identity()
      await bench.ensure(one)
      await bench.ensure(two)
      const found = await listed(bench)
      for (const identity of [one, two])
        demand(
          found.some((each) => isSame(each, identity)),
          `list does not name ${identity.name} by cluster, kind, namespace, name and uid`,
        )
      for (const { record, ...identity } of found) {
        if (record === undefined || ![one, two].some((each) => isSame(each, identity))) continue
        const now = await bench.get(identity)
        demand(
          now !== undefined &&
            record.fingerprint === now.fingerprint &&
            sameLoadBalancerStatus(record.status, now.status),
          `list says of ${identity.name} something else than get`,
        )
      }
      await bench.delete(one)
      const left = await listed(bench)
      demand(!left.some((each) => isSame(each, one)), 'list still names what was deleted')
      demand(
        left.some((each) => isSame(each, two)),
        'list forgot a balancer when another was deleted',
      )
    },
  },
  {
    name: 'fingerprint-is-of-the-last',
    level: 2,
    contract: 'a fingerprint that get answers is that of the last ensure or update that was finished',
    async run(bench) {
      const identity = bench.identity()
      for (const revision of [1, 3]) {
        await bench.ensure(identity, revision)
        const { fingerprint } = (await bench.get(identity)) ?? {}
        demand(
          fingerprint === undefined || fingerprint === fingerprintOf(revision),
          `get answers the fingerprint ${fingerprint} after an ensure with ${fingerprintOf(revision)}`,
        )
      }
    },
  },
  {
    name: 'others-are-untouched',
    level: 2,
    contract: 'balancers of another control plane in the same account are neither listed, changed nor removed',
    async run(bench) {
      const ours = bench.identity()
      const theirs = bench.identity({ ...ours, clusterId: 'another' })
      await bench.ensure(theirs)
      const before = await bench.get(theirs)
      await bench.ensure(ours)
      await bench.update(ours)
      const found = bench.balancer.list === undefined ? [] : await listed(bench)
      demand(
        found.every(({ clusterId }) => clusterId === CLUSTER_ID),
        'list names a balancer of another cluster',
      )
      await bench.delete(ours)
      const after = await bench.get(theirs)
      demand(after !== undefined, 'the balancer of another cluster is gone')
      demand(
        sameLoadBalancerStatus(after.status, before?.status),
        'the balancer of another cluster has other addresses',
      )
      demand(after.fingerprint === before?.fingerprint, 'the balancer of another cluster was updated')
    },
  },
]

// At once, and later: over a network the first never reaches the provider.
const GIVEN_UP_AT = [0, 1, 5, 25]

/** Whether a call settles that is given up after so many milliseconds. */
async function givenUp(bench: Bench, ms: number, call: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
  const controller = new AbortController()
  const outcome = bench.outcomeOf(call(controller.signal))
  if (ms > 0) await bench.wait(ms)
  controller.abort(new Error('deadline'))
  return (await outcome) !== 'pending'
}

function withoutList({ balancer }: Bench): string | undefined {
  return balancer.list === undefined ? 'it has no list: orphans are not found' : undefined
}

async function listed({ balancer }: Bench): Promise<ListedBalancer[]> {
  return (await balancer.list?.(CLUSTER_ID, new AbortController().signal)) ?? []
}

/** Where there is no list this is not looked at. */
async function demandListed(bench: Bench, identity: BalancerIdentity, count: number, after: string): Promise<void> {
  if (bench.balancer.list === undefined) return
  const found = (await listed(bench)).filter((each) => isSame(each, identity)).length
  demand(found === count, `list names ${found} balancers after ${after}, not ${count}`)
}

function isSame(a: BalancerIdentity, b: BalancerIdentity): boolean {
  return (['clusterId', 'kind', 'namespace', 'name', 'uid'] as const).every((field) => a[field] === b[field])
}
