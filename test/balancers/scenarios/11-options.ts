import assert from 'node:assert/strict'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { ask } from '../support/connection.ts'
import { HTTP_LANES, type HttpLane, TITLES } from '../support/lane.ts'
import { balanced, hostOf, publishedAddress, ruleOf, targetAt, withdraw } from '../support/lanes.ts'
import { askMany } from '../support/load.ts'
import type { World } from '../support/world.ts'

export const scenarios: Scenario[] = [
  {
    name: 'layer 7: redirect to HTTPS, rewrite, headers, affinity and a body limit',
    async run(world) {
      await world.shop.publish('options', { east: [1, 2], west: [1, 2] })
      await world.shop.setSecret('options', await world.authority.issueServingCertificate([hostOf('options')]))
      for (const lane of HTTP_LANES) await layer7(world, lane)
    },
  },
  {
    name: 'layer 4: source ranges, PROXY protocol to pods and from clients, and clients that stay with their pod',
    async run(world) {
      for (const service of ['ranged', 'proxied-v1', 'proxied-v2', 'behind-another', 'sticky'])
        await world.shop.publish(service, { east: [1, 2], west: [1, 2] })
      await sourceRanges(world)
      await proxyProtocol(world)
      await affinity(world)
    },
  },
]

async function layer7(world: World, lane: HttpLane): Promise<void> {
  const host = hostOf('options')
  const object = (options: Record<string, string>) =>
    balanced(lane, 'options', {
      options,
      spec: { rules: [ruleOf(host, { '/shop': 'options' })], tls: [{ hosts: [host], secretName: 'options' }] },
    })
  await world.apply(
    object({
      'redirect-http-to-https': 'true',
      'redirect-status': '307',
      'rewrite-target': '/inside',
      'request-headers': 'X-Shop: open\nX-Secret:',
      'response-headers': 'Strict-Transport-Security: max-age=60',
      'request-body-limit': '1k',
      affinity: 'cookie',
    }),
  )
  const address = await publishedAddress(world, object({}))
  const plain = { protocol: 'http', address, port: 80, host, path: '/shop/cart?id=1' } as const
  const secure = { ...plain, protocol: 'https', port: 443, caPem: world.authority.caPem } as const
  const reply = await eventually(async () => {
    const answer = await ask({ ...secure, headers: { 'x-secret': 'of the client' } })
    assert.equal(answer.status, 200, TITLES[lane])
    return answer
  })
  assert.equal(reply.pod?.url, '/inside/cart?id=1', `${TITLES[lane]}: rewrite-target`)
  assert.equal(reply.pod?.headers?.['x-shop'], 'open', `${TITLES[lane]}: request-headers`)
  assert.equal(reply.pod?.headers?.['x-secret'], undefined, `${TITLES[lane]}: request-headers`)
  assert.equal(reply.headers['strict-transport-security'], 'max-age=60', `${TITLES[lane]}: response-headers`)

  const redirect = await ask(plain)
  assert.equal(redirect.status, 307, `${TITLES[lane]}: redirect-status`)
  assert.equal(redirect.headers['location'], `https://${host}/shop/cart?id=1`, `${TITLES[lane]}: redirect`)

  assert.equal((await ask({ ...secure, method: 'POST', body: 'x'.repeat(1_000) })).pod?.bytes, 1_000)
  const tooLarge = await ask({ ...secure, method: 'POST', body: 'x'.repeat(2_000) })
  assert.equal(tooLarge.status, 413, `${TITLES[lane]}: request-body-limit`)

  const [cookie = ''] = [reply.headers['set-cookie'] ?? []].flat().map((text) => text.split(';')[0] ?? '')
  const { byPod } = await askMany({ ...secure, headers: { cookie } }, 40)
  assert.deepEqual(Object.keys(byPod), [reply.pod?.pod], `${TITLES[lane]}: affinity by cookie`)
  assert.ok(Object.keys((await askMany(secure, 40)).byPod).length > 1, `${TITLES[lane]}: clients without a cookie`)
  await withdraw(world, object({}))
}

async function sourceRanges(world: World): Promise<void> {
  const object = balanced('tcp', 'ranged', { options: { 'source-ranges': `${world.networks.client(2)}/32` } })
  await world.apply(object)
  const target = targetAt('tcp', await publishedAddress(world, object), 'ranged')
  await eventually(async () => assert.ok((await ask({ ...target, from: world.networks.client(2) })).pod))
  await assert.rejects(ask({ ...target, from: world.networks.client(3) }), 'a client outside of the source ranges')
  await withdraw(world, object)
}

async function proxyProtocol(world: World): Promise<void> {
  const from = world.networks.client(4)
  for (const version of ['v1', 'v2']) {
    const object = balanced('tcp', `proxied-${version}`, {
      options: { 'proxy-protocol': version },
      ports: [{ name: 'proxied', port: 7001 }],
    })
    await world.apply(object)
    const address = await publishedAddress(world, object)
    await eventually(async () => {
      const { pod } = await ask({ protocol: 'tcp', address, port: 7001, from })
      assert.equal(pod?.from, from, `proxy-protocol ${version}`)
    })
    await withdraw(world, object)
  }
  const object = balanced('tcp', 'behind-another', {
    options: { 'proxy-protocol': 'v2', 'accept-proxy-protocol': 'true' },
    ports: [{ name: 'proxied', port: 7001 }],
  })
  await world.apply(object)
  const address = await publishedAddress(world, object)
  await eventually(async () => {
    const preamble = 'PROXY TCP4 192.0.2.77 192.0.2.1 4000 7001\r\n'
    const { pod } = await ask({ protocol: 'tcp', address, port: 7001, preamble })
    assert.equal(pod?.from, '192.0.2.77', 'accept-proxy-protocol')
  })
  await withdraw(world, object)
}

async function affinity(world: World): Promise<void> {
  const object = balanced('tcp', 'sticky', { options: { affinity: 'source-ip' } })
  await world.apply(object)
  const target = targetAt('tcp', await publishedAddress(world, object), 'sticky')
  await eventually(async () => assert.ok((await ask(target)).pod))
  const pods = new Set<string>()
  for (let number = 1; number <= 9; number += 1) {
    const client = { ...target, from: world.networks.client(number) }
    // Where it goes is known once it has been there: of a first twenty at once each would be a first.
    await ask(client)
    const { byPod } = await askMany(client, 20)
    assert.equal(Object.keys(byPod).length, 1, `client ${number} came to ${Object.keys(byPod)}`)
    for (const pod of Object.keys(byPod)) pods.add(pod)
  }
  assert.ok(pods.size > 1, 'all clients came to one pod')
  await withdraw(world, object)
}
