import { sameLoadBalancerStatus } from '../domain/load-balancer-status.ts'
import { validateLoadBalancerStatus } from '../domain/validation/validate-load-balancer-status.ts'
import type { Bench } from './bench.ts'
import type { ConformanceCheck } from './conformance-check.ts'
import { demand } from './conformance-fault.ts'
import { fingerprintOf } from './tested-balancer.ts'

/** The basics: what every provider must do before it meets an object. */
export const LEVEL_ONE: readonly ConformanceCheck[] = [
  {
    name: 'absent-is-undefined',
    level: 1,
    contract: 'get answers undefined where there is no balancer, and makes none',
    async run(bench) {
      const identity = bench.identity()
      for (const time of ['', ' the second time'])
        demand((await bench.get(identity)) === undefined, `get of what was never made answers a record${time}`)
    },
  },
  {
    name: 'ensure-makes',
    level: 1,
    contract: 'after an ensure that was finished, get answers the balancer with its status',
    async run(bench) {
      const identity = bench.identity()
      const { status } = await bench.ensure(identity)
      const record = await bench.get(identity)
      demand(record !== undefined, 'get answers undefined after ensure')
      if (status !== undefined)
        demand(sameLoadBalancerStatus(record.status, status), 'get reports another status than ensure did')
    },
  },
  {
    name: 'status-can-be-published',
    level: 1,
    contract: 'every address is an IP address or a DNS name that the API server stores',
    async run(bench) {
      const identity = bench.identity()
      const { status } = await bench.ensure(identity)
      const entries = status?.ingress ?? []
      demand(
        entries.every(({ ip, hostname }) => Boolean(ip) || Boolean(hostname)),
        'an entry of status.ingress has neither ip nor hostname',
      )
      const faults = validateLoadBalancerStatus({ loadBalancer: status })
      demand(faults.length === 0, faults.map(({ field, message }) => `${field}: ${message}`).join('; '))
    },
  },
  {
    name: 'ensure-again',
    level: 1,
    contract: 'ensure of what exists leaves it as it is, addresses included',
    async run(bench) {
      const identity = bench.identity()
      await bench.ensure(identity)
      const first = (await bench.get(identity))?.status
      await bench.ensure(identity)
      demand(
        sameLoadBalancerStatus((await bench.get(identity))?.status, first),
        'a second ensure changes the addresses',
      )
    },
  },
  {
    name: 'update-keeps',
    level: 1,
    contract: 'update brings an existing balancer to what is asked; it stays the same balancer',
    async run(bench) {
      const identity = bench.identity()
      await bench.ensure(identity)
      const first = (await bench.get(identity))?.status
      await bench.update(identity, 2)
      await bench.update(identity, 2)
      const record = await bench.get(identity)
      demand(record !== undefined, 'the balancer is gone after update')
      demand(sameLoadBalancerStatus(record.status, first), 'update changes the addresses')
      demand(
        record.fingerprint === undefined || record.fingerprint === fingerprintOf(2),
        'get reports a fingerprint that is not that of the last update',
      )
    },
  },
  {
    name: 'delete-removes',
    level: 1,
    contract: 'ensureDeleted returns only when the balancer is gone',
    async run(bench) {
      const identity = bench.identity()
      await bench.ensure(identity)
      await bench.delete(identity)
      demand((await bench.get(identity)) === undefined, 'get still answers a record after ensureDeleted returned')
      await bench.ensure(identity)
      demand((await bench.get(identity)) !== undefined, 'it cannot be made again after it was deleted')
    },
  },
  {
    name: 'delete-of-absent',
    level: 1,
    contract: 'ensureDeleted of what is absent returns',
    async run(bench) {
      const identity = bench.identity()
      await bench.delete(identity)
      await bench.ensure(identity)
      await bench.delete(identity)
      await bench.delete(identity)
    },
  },
  {
    name: 'delete-of-gone-object',
    level: 1,
    contract: 'ensureDeleted without the object removes the balancer by its identity alone',
    async run(bench) {
      const identity = bench.identity()
      await bench.deleteGone(identity)
      await bench.ensure(identity)
      await bench.deleteGone(identity)
      demand((await bench.get(identity)) === undefined, 'the balancer of a gone object stays')
    },
  },
  {
    name: 'identities-are-apart',
    level: 1,
    contract: 'a balancer belongs to cluster, namespace, name and uid; no call touches another’s',
    async run(bench) {
      const one = bench.identity()
      const others = [
        bench.identity({ ...one, uid: `${one.uid}-2` }),
        bench.identity({ ...one, namespace: 'another' }),
        bench.identity({ ...one, name: `${one.name}-2` }),
        bench.identity({ ...one, clusterId: 'another' }),
      ]
      await bench.ensure(one)
      for (const other of others)
        demand(
          (await bench.get(other)) === undefined,
          `get takes the balancer of ${describe(one)} for ${describe(other)}`,
        )
      await ensureWhereNamesAreUnique(bench, others[1] as typeof one)
      await bench.delete(others[0] as typeof one)
      demand((await bench.get(one)) !== undefined, 'the delete for another uid removed the balancer')
      await bench.delete(one)
      demand(
        (await bench.get(others[1] as typeof one)) !== undefined,
        'the delete removed the balancer of another namespace',
      )
    },
  },
  {
    name: 'arguments-are-read-only',
    level: 1,
    contract: 'object, identity, backends and nodes belong to the caller',
    async run(bench) {
      const identity = bench.identity()
      await bench.get(identity)
      await bench.ensure(identity)
      await bench.update(identity)
      await bench.delete(identity)
      const changed = bench.balancer.changedArguments()
      demand(changed.length === 0, `${changed.join(', ')} changes what was handed over`)
    },
  },
  {
    name: 'aborted-before',
    level: 1,
    contract: 'a call whose signal is aborted already rejects, and makes nothing',
    async run(bench) {
      const identity = bench.identity()
      const call = bench.balancer.ensure({ identity, revision: 1, signal: AbortSignal.abort() })
      const outcome = await bench.outcomeOf(call)
      demand(
        outcome !== 'pending',
        `ensure has not rejected ${bench.patienceMs} ms after it began with an aborted signal`,
      )
      demand(outcome === 'rejected', 'ensure goes on although its signal was aborted before')
      demand((await bench.get(identity)) === undefined, 'the aborted ensure made a balancer')
    },
  },
  {
    name: 'aborted-during',
    level: 1,
    contract: 'a call whose signal fires settles soon after',
    async run(bench) {
      const identity = bench.identity()
      const controller = new AbortController()
      const call = bench.balancer.ensure({ identity, revision: 1, signal: controller.signal })
      controller.abort(new Error('deadline'))
      const outcome = await bench.outcomeOf(call)
      demand(outcome !== 'pending', `ensure has not settled ${bench.patienceMs} ms after its signal fired`)
    },
  },
  {
    name: 'validate-is-pure',
    level: 1,
    contract: 'validate answers findings at once, and takes a good object',
    skip: ({ balancer }) => (balancer.validate === undefined ? 'it has no validate' : undefined),
    async run(bench) {
      const findings = bench.balancer.validate?.(bench.identity())
      demand(Array.isArray(findings), 'validate does not answer a list (it must not be async)')
      demand(findings.length === 0, `validate refuses a plain object: ${JSON.stringify(findings)}`)
    },
  },
]

async function ensureWhereNamesAreUnique(bench: Bench, identity: Parameters<Bench['ensure']>[0]): Promise<void> {
  await bench.ensure(identity)
  demand((await bench.get(identity)) !== undefined, `get answers undefined for ${describe(identity)} after ensure`)
}

function describe({ clusterId, namespace, name, uid }: Parameters<Bench['ensure']>[0]): string {
  return [clusterId, namespace, name, uid].join('/')
}
