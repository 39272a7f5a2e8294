import { type ChildProcess, fork } from 'node:child_process'
import { appendFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { MCSLoadBalancer } from '../../src/provider/multicluster.ts'
import { examineProvider, formatReport } from '../../src/testing/conformance.ts'
import { type AnsweringServer, startAnsweringServer } from '../support/answering-server.ts'
import { askTcp, openTcp, startLoad } from '../support/ask-tcp.ts'
import { createTestHaproxy, haproxyMissing, type TestHaproxy } from '../support/haproxy.ts'
import { SERVICE_PORT, serviceCall, type WantedService } from '../support/haproxy-calls.ts'

// At its natural end Node may wait for ever for pipes of processes that were killed: it ends itself.
process.once('exit', () => process.exit())

// HAProxy shares its ports with whoever asks: another run, or one that was left, must be elsewhere.
const NETWORK = `127.77.${process.pid % 250}`
const ADDRESSES = [`${NETWORK}.1-${NETWORK}.90`]
const HOST = `${NETWORK}.1`
const PEERS_PORT = 20_000 + (process.pid % 10_000)
const OLDER = { message: /a newer holder of the lock/ }

const skip = haproxyMissing(process.env) ?? (process.getuid?.() === 0 ? false : 'the conformance kit asks for port 80')

/** A HAProxy that runs, and is gone after the test. */
async function startHaproxy(t: Test, more: Record<string, unknown> = {}): Promise<TestHaproxy> {
  const haproxy = createTestHaproxy({ addresses: ADDRESSES, peersPort: PEERS_PORT, ...more })
  t.teardown(() => haproxy.close())
  await t.rejects(balancerOf(haproxy).getMCSLoadBalancer(...serviceCall()), /HAProxy does not answer/)
  await haproxy.start()
  return haproxy
}

function balancerOf(haproxy: TestHaproxy): MCSLoadBalancer {
  const { mcsLoadBalancer } = haproxy.provider()
  if (mcsLoadBalancer === undefined) throw new Error('the provider balances no services')
  return mcsLoadBalancer
}

async function startOf(haproxy: TestHaproxy): Promise<void> {
  const { start } = haproxy.provider()
  if (start === undefined) throw new Error('the provider has nothing to start')
  await start()
}

async function startServers(t: Test, ...names: string[]): Promise<AnsweringServer[]> {
  const servers = await Promise.all(names.map((name) => startAnsweringServer(name)))
  t.teardown(() => Promise.all(servers.map((server) => server.kill())))
  return servers
}

/** A cluster a server, under the server's name. */
function poolsOf(servers: readonly AnsweringServer[]) {
  return Object.fromEntries(servers.map(({ name, endpoint }) => [name, [endpoint]]))
}

async function answers(times: number, host = HOST): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (let left = times; left > 0; left -= 1) {
    const answer = await askTcp(host, SERVICE_PORT)
    counts[answer] = (counts[answer] ?? 0) + 1
  }
  return counts
}

t.test('on a real HAProxy', { skip }, async (t) => {
  t.test('the conformance kit passes', async (t) => {
    const haproxy = await startHaproxy(t)
    const createProvider = () => ({ name: 'haproxy', mcsLoadBalancer: balancerOf(haproxy) })
    const report = await examineProvider({ createProvider, level: 2, patienceMs: 30_000 })
    t.ok(report.passed, formatReport(report))
    t.notOk(report.results.some(({ outcome }) => outcome === 'skipped'))
  })

  t.test('listeners by a reload, endpoints and weights without', async (t) => {
    const haproxy = await startHaproxy(t)
    const balancer = balancerOf(haproxy)
    const [a, b] = (await startServers(t, 'a', 'b')) as [AnsweringServer, AnsweringServer]
    const ensure = (wanted: WantedService) => balancer.ensureMCSLoadBalancer(...serviceCall(wanted))
    t.same(await ensure({ pools: poolsOf([a]) }), { status: { ingress: [{ ip: HOST }] }, changed: true })
    t.same(await answers(4), { a: 4 })
    const reloads = await haproxy.reloads()
    await ensure({ pools: poolsOf([a, b]) })
    t.same(await answers(20), { a: 10, b: 10 })
    await ensure({ pools: poolsOf([a, b]), annotations: { 'cluster-weights': 'a=30,b=10' } })
    t.same(await answers(40), { a: 30, b: 10 }, 'in the asked proportion')
    t.same((await ensure({ pools: poolsOf([a, b]), annotations: { 'cluster-weights': 'a=30,b=10' } })).changed, false)

    const open = await openTcp(HOST, SERVICE_PORT)
    const [stays, goes] = open.answer === 'a' ? [b, a] : [a, b]
    await ensure({ pools: poolsOf([stays]) })
    t.same(await answers(10), { [stays.name]: 10 }, 'a cluster that went gets nothing new')
    t.equal(await open.ask(), goes.name, 'and finishes what it has')
    open.close()
    await ensure({ pools: poolsOf([stays]), fingerprint: 'later' })
    t.notMatch(await haproxy.ask('show servers state'), `${goes.name}_`, 'then it is taken away')

    await ensure({ pools: {}, port: { state: 'held' } })
    t.same(await answers(4), { [stays.name]: 4 }, 'held')
    await ensure({ pools: {}, port: { state: 'empty' } })
    t.same(await answers(2), { '!closed': 2 }, 'empty')
    t.equal(await haproxy.reloads(), reloads, 'none of it was a reload')
    await ensure({ pools: poolsOf([a]), annotations: { 'idle-timeout': '60' } })
    t.equal(await haproxy.reloads(), reloads + 1, 'a timeout is')
  })

  t.test('what the annotations ask for happens', async (t) => {
    const haproxy = await startHaproxy(t)
    const balancer = balancerOf(haproxy)
    const servers = await startServers(t, 'a', 'b', 'c')
    const [a] = servers as [AnsweringServer]
    const ensure = (annotations: Record<string, string>, pools = poolsOf(servers)) =>
      balancer.ensureMCSLoadBalancer(...serviceCall({ pools, annotations }))

    await ensure({ 'source-ranges': '127.0.0.2/32' })
    t.match(await askTcp(HOST, SERVICE_PORT, { from: '127.0.0.2' }), /^[abc]$/)
    t.match(await askTcp(HOST, SERVICE_PORT, { from: '127.0.0.3' }), /^!/)

    await ensure({ 'proxy-protocol': 'v1' }, poolsOf([a]))
    await askTcp(HOST, SERVICE_PORT, { from: '127.0.0.2' })
    t.match(a.received.at(-1), new RegExp(`^PROXY TCP4 127.0.0.2 ${HOST} \\d+ ${SERVICE_PORT}\r\n`))

    await ensure({ affinity: 'source-ip' })
    const [first = ''] = Object.keys(await answers(1))
    t.same(await answers(12), { [first]: 12 }, 'a client stays')
    await ensure({ affinity: 'source-ip', 'idle-timeout': '60' })
    t.same(await answers(12), { [first]: 12 }, 'over a reload too')
    const others = servers.filter(({ name }) => name !== first)
    await ensure({ affinity: 'source-ip', 'idle-timeout': '60' }, poolsOf(others))
    t.notOk(Object.keys(await answers(6)).includes(first), 'until its server goes')
  })

  t.test('endpoint changes and reloads under load lose nothing; a killed backend next to nothing', async (t) => {
    const haproxy = await startHaproxy(t)
    const balancer = balancerOf(haproxy)
    const servers = await startServers(t, 'a', 'b', 'c')
    const ensure = (wanted: WantedService) => balancer.ensureMCSLoadBalancer(...serviceCall(wanted))
    const check = { 'health-check-protocol': 'tcp', 'health-check-interval': '1' }
    await ensure({ pools: poolsOf(servers), annotations: check })

    const reloadsBefore = await haproxy.reloads()
    const changing = startLoad(HOST, SERVICE_PORT, 20)
    for (let change = 0; change < 15; change += 1) {
      const left = servers.filter((_, index) => index !== change % 3)
      const annotations = { ...check, 'cluster-weights': `a=${(change % 7) + 1},b=3,c=2` }
      await ensure({ pools: poolsOf(left), annotations, fingerprint: `change ${change}` })
    }
    const changed = await changing.stop()
    t.comment(`15 endpoint changes: ${changed.failed} of ${changed.all} connections failed`)
    t.same(
      { failed: changed.failed, answers: Object.keys(changed.answers).sort() },
      { failed: 0, answers: ['a', 'b', 'c'] },
    )
    t.equal(await haproxy.reloads(), reloadsBefore)

    const reloading = startLoad(HOST, SERVICE_PORT, 20)
    for (let change = 0; change < 6; change += 1) {
      await ensure({ pools: poolsOf(servers), annotations: { ...check, 'idle-timeout': `${100 + change}` } })
    }
    const reloaded = await reloading.stop()
    t.comment(`6 reloads: ${reloaded.failed} of ${reloaded.all} connections failed`)
    t.equal(reloaded.failed, 0, JSON.stringify(reloaded.answers))
    t.equal(await haproxy.reloads(), reloadsBefore + 6)

    const killing = startLoad(HOST, SERVICE_PORT, 8)
    await pause(300)
    await servers[0]?.kill()
    for (const until = Date.now() + 30_000; killing.count() < 10_000 && Date.now() < until; ) await pause(50)
    const killed = await killing.stop()
    t.comment(`a backend killed: ${killed.failed} of ${killed.all} connections failed`)
    t.ok(killed.failed / killed.all < 0.001, JSON.stringify(killed.answers))
    // Only those that it had taken already and not answered, which nobody can save; whom it refuses is sent elsewhere.
    const cut = (killed.answers['!ECONNRESET'] ?? 0) + (killed.answers['!closed'] ?? 0)
    t.ok(cut === killed.failed && cut <= 8, JSON.stringify(killed.answers))
  })

  t.test('a new machine, whoever starts first', async (t) => {
    const servers = await startServers(t, 'a')
    const served = async (haproxy: TestHaproxy) => {
      await balancerOf(haproxy).ensureMCSLoadBalancer(...serviceCall({ pools: poolsOf(servers) }))
      t.same(await answers(1), { a: 1 })
      await haproxy.close()
    }
    const machine = () => {
      const haproxy = createTestHaproxy({ addresses: ADDRESSES, peersPort: PEERS_PORT })
      t.teardown(() => haproxy.close())
      return haproxy
    }

    const second = machine()
    await t.rejects(startOf(second), /HAProxy does not answer/)
    await second.start()
    await startOf(second)
    t.equal(await second.reloads(), 0, 'it started with what was prepared')
    await served(second)

    const first = machine()
    await first.startEmpty()
    await startOf(first)
    t.match(await first.ask('show info'), /Maxconn: [1-9]/, 'it reads what it is given')
    await served(first)

    const restarted = machine()
    await t.rejects(startOf(restarted))
    await restarted.start()
    await balancerOf(restarted).ensureMCSLoadBalancer(...serviceCall({ pools: poolsOf(servers) }))
    await restarted.kill()
    writeFileSync(restarted.file, restarted.configuration().replace(/^ {2}server .*$/m, ''))
    await restarted.start()
    await startOf(restarted)
    t.same(await answers(1), { a: 1 }, 'the file is what is recorded, before anybody calls')
  })

  t.test('whoever dies, the files are the truth', async (t) => {
    const haproxy = await startHaproxy(t)
    const servers = await startServers(t, 'a', 'b')
    const wanted = { pools: poolsOf(servers), fingerprint: 'last' }
    const get = () => balancerOf(haproxy).getMCSLoadBalancer(...serviceCall(wanted))
    const ensure = () => balancerOf(haproxy).ensureMCSLoadBalancer(...serviceCall(wanted))
    const whole = { status: { ingress: [{ ip: HOST }] }, fingerprint: 'last' }
    await balancerOf(haproxy).ensureMCSLoadBalancer(...serviceCall({ pools: {} }))
    await ensure()
    t.same(await get(), whole)

    await haproxy.kill()
    await t.rejects(get(), /HAProxy does not answer .* is it running/, 'down is not absent')
    await t.rejects(ensure(), /HAProxy does not answer/)
    await haproxy.start()
    t.same(await get(), whole, 'it starts as it was')
    t.same(await answers(4), { a: 2, b: 2 })

    const [name] = (await haproxy.ask('show backend')).split('\n').filter((line) => line.startsWith('mcs_'))
    const damages: Record<string, () => Promise<unknown> | unknown> = {
      'a server removed by hand': async () => {
        const server = `${name}/a_127.0.0.1_${servers[0]?.port}`
        await haproxy.ask(`set server ${server} state maint;del server ${server}`)
      },
      'a weight set by hand': () => haproxy.ask(`set server ${name}/a_127.0.0.1_${servers[0]?.port} weight 9`),
      'a server added by hand': () => haproxy.ask(`add server ${name}/stray 127.0.0.1:1;enable server ${name}/stray`),
    }
    for (const [what, damage] of Object.entries(damages)) {
      await damage()
      t.same(await get(), { status: whole.status }, `${what}: seen`)
      await ensure()
      t.same(await get(), whole, `${what}: repaired`)
      t.same(await answers(4), { a: 2, b: 2 }, what)
    }
    for (const damage of [() => appendFileSync(haproxy.file, '\nnonsense\n'), () => rmSync(haproxy.file)]) {
      damage()
      t.same(await get(), { status: whole.status }, 'a file that differs from what runs is seen')
      await ensure()
      t.notMatch(haproxy.configuration(), 'nonsense')
      t.match(haproxy.configuration(), `backend ${name}`)
      t.same(await get(), whole)
    }
    await haproxy.kill()
    appendFileSync(haproxy.file, '\nnonsense\n')
    await t.rejects(get(), /HAProxy does not answer/)
    await haproxy.start()
    t.same(await get(), whole, 'nor does it keep HAProxy from starting')

    const records = join(haproxy.stateDirectory, 'records')
    t.equal(statSync(records).mode & 0o777, 0o700)
    const [record = ''] = readdirSync(records)
    t.equal(statSync(join(records, record)).mode & 0o777, 0o600)
    rmSync(join(records, record))
    t.same(await get(), {}, 'served, and not recorded: it exists')
    await balancerOf(haproxy).ensureMCSLoadBalancerDeleted(undefined, serviceCall()[1])
    t.equal(await get(), undefined)
    t.same(await answers(1), { '!ECONNREFUSED': 1 })
  })

  t.test('killed at any moment, the next call finishes', async (t) => {
    const haproxy = await startHaproxy(t)
    const [a, b] = (await startServers(t, 'a', 'b')) as [AnsweringServer, AnsweringServer]
    for (let round = 0; round < 5; round += 1) {
      const agent = fork(join(import.meta.dirname, '../support/haproxy-agent.ts'), [
        JSON.stringify({ options: haproxy.options, endpoints: [a.endpoint, b.endpoint] }),
      ])
      await nextMessage(agent)
      await pause(40 + round * 70)
      if (round % 4 === 3) {
        await haproxy.kill()
        await haproxy.start()
      }
      agent.kill('SIGKILL')
      await new Promise((resolve) => agent.once('exit', resolve))

      const balancer = balancerOf(haproxy)
      const fingerprint = `round ${round}`
      await balancer.ensureMCSLoadBalancer(...serviceCall({ name: 'own', pools: poolsOf([a]), fingerprint }))
      const found = await balancer.getMCSLoadBalancer(...serviceCall({ name: 'own' }))
      const [{ ip = '' } = {}] = found?.status?.ingress ?? []
      t.equal(found?.fingerprint, fingerprint)
      t.same(await answers(3, ip), { a: 3 })
      const left = await balancer.listMCSLoadBalancers?.({ clusterId: 'blue', ...serviceCall()[1] })
      for (const identity of left ?? []) {
        await balancer.ensureMCSLoadBalancerDeleted(undefined, { ...serviceCall()[1], identity })
      }
      const [, ...backends] = (await haproxy.ask('show backend')).trim().split('\n')
      t.notOk(
        backends.some((name) => name.startsWith('mcs_')),
        'nothing is left',
      )
      t.notMatch(haproxy.configuration(), 'backend mcs_')
    }
  })

  t.test('what HAProxy refuses leaves what serves alone', async (t) => {
    const base = join(tmpdir(), `haproxy-base-${process.pid}.cfg`)
    t.teardown(() => rmSync(base, { force: true }))
    const haproxy = createTestHaproxy({
      addresses: { default: ADDRESSES, elsewhere: ['203.0.113.9'] },
      baseConfiguration: base,
    })
    t.teardown(() => haproxy.close())
    const goodBase = `global\n  stats socket ${haproxy.options['runtimeSocket']} mode 600 level admin\n`
    writeFileSync(base, goodBase)
    const balancer = balancerOf(haproxy)
    await t.rejects(balancer.ensureMCSLoadBalancer(...serviceCall()))
    await haproxy.start()
    const [a, b] = (await startServers(t, 'a', 'b')) as [AnsweringServer, AnsweringServer]
    await balancer.ensureMCSLoadBalancer(...serviceCall({ pools: poolsOf([a]), fingerprint: 'good' }))
    const before = haproxy.configuration()
    const good = { status: { ingress: [{ ip: HOST }] }, fingerprint: 'good' }

    const load = startLoad(HOST, SERVICE_PORT, 5)
    const elsewhere = serviceCall({ name: 'elsewhere', annotations: { 'address-pool': 'elsewhere' } })
    await t.rejects(balancer.ensureMCSLoadBalancer(...elsewhere), {
      kind: 'Terminal',
      message: /MultiClusterService shop\/elsewhere: the address 203.0.113.9 is not on this machine/,
    })
    t.equal(haproxy.configuration(), before)
    t.equal(await balancer.getMCSLoadBalancer(...elsewhere), undefined)
    t.same(await balancer.getMCSLoadBalancer(...serviceCall()), good)
    const [bad, fine] = await Promise.allSettled([
      balancer.ensureMCSLoadBalancer(...elsewhere),
      balancer.ensureMCSLoadBalancer(...serviceCall({ name: 'beside', pools: poolsOf([b]) })),
    ])
    t.same([bad.status, fine.status], ['rejected', 'fulfilled'], 'the other one of the same moment is served')

    const foreign = await startAnsweringServer('foreign', SERVICE_PORT + 1, HOST)
    t.teardown(() => foreign.kill())
    const taken = serviceCall({ port: { port: SERVICE_PORT + 1 } })
    await t.rejects(balancer.ensureMCSLoadBalancer(...taken), /port 18081 of .* is taken by another program/)

    writeFileSync(base, `${goodBase}  nonsense\n`)
    const update = serviceCall({ pools: poolsOf([a, b]), fingerprint: 'better' })
    await t.rejects(balancer.ensureMCSLoadBalancer(...update), /refuses what it serves already.*nonsense/)
    t.same(await balancer.getMCSLoadBalancer(...serviceCall()), good)
    writeFileSync(base, goodBase)
    await balancer.ensureMCSLoadBalancer(...update)
    const { failed, all } = await load.stop()
    t.ok(all > 0)
    t.equal(failed, 0)
  })

  t.test('conflicts, older holders, and two agents on one directory', async (t) => {
    const haproxy = await startHaproxy(t, { addresses: [HOST] })
    const [one, two] = [balancerOf(haproxy), balancerOf(haproxy)]
    const first = (fence: string) => serviceCall({ name: 'first', fence })
    const second = () => serviceCall({ name: 'second' })
    await one.ensureMCSLoadBalancer(...first('7'))
    const taken = {
      kind: 'Terminal',
      message: /port 18080 of .* is used by MultiClusterService shop\/first/,
    }
    for (const balancer of [two, one, two]) await t.rejects(balancer.ensureMCSLoadBalancer(...second()), taken)
    await two.ensureMCSLoadBalancer(...first('8'))
    await t.rejects(one.ensureMCSLoadBalancer(...first('7')), OLDER, 'an older holder')
    await t.rejects(one.ensureMCSLoadBalancerDeleted(...first('7')), OLDER)
    await one.ensureMCSLoadBalancerDeleted(undefined, first('9')[1])
    await t.rejects(two.ensureMCSLoadBalancer(...first('8')), OLDER, 'nor does it bring it back')
    await two.ensureMCSLoadBalancer(...second())

    const ports = Array.from({ length: 12 }, (_, index) => 18_100 + index)
    await Promise.all(
      ports.map((port, index) =>
        [one, two][index % 2]?.ensureMCSLoadBalancer(...serviceCall({ name: `port-${port}`, port: { port } })),
      ),
    )
    const backends = (await haproxy.ask('show backend')).split('\n')
    for (const port of ports)
      t.ok(
        backends.some((name) => name.startsWith(`mcs_shop_port-${port}_`)),
        `${port}`,
      )
    const listed = await one.listMCSLoadBalancers?.({ clusterId: 'blue', ...serviceCall()[1] })
    t.equal(listed?.length, ports.length + 1)
  })
})

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once('message', resolve))
}
