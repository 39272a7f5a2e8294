import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { Agent, request } from 'undici'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import { admin, ingress, ingresses, realClock } from './support.ts'

const plane = await startLocalControlPlane({
  clock: realClock,
  authority: await createCertificateAuthority(realClock.now()),
  definitions: karmadaCrds,
})
const dispatcher = new Agent({ connect: { ca: plane.caPem } })
t.teardown(async () => {
  await dispatcher.destroy()
  await plane.close()
})

const base = '/apis/networking.karmada.io/v1alpha1/namespaces/default/multiclusteringresses'

async function call(
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string>; token?: string } = {},
) {
  const { body, headers = {}, token = plane.adminToken } = options
  const response = await request(plane.url + path, {
    dispatcher,
    method: method as 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.body.text()
  const isJson = String(response.headers['content-type']).startsWith('application/json')
  return { status: response.statusCode, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

t.test('who asks, and what for', async (t) => {
  t.match(await call('GET', base, { token: 'nobody' }), { status: 401, body: { reason: 'Unauthorized' } })
  t.match(await call('GET', '/version', { token: 'nobody' }), { status: 200, body: { gitVersion: 'v1.36.0' } })
  t.match(await call('GET', '/readyz'), { status: 200, body: 'ok' })
  t.equal(plane.tokenFor('system:serviceaccount:a:b'), plane.tokenFor('system:serviceaccount:a:b'))
  t.not(plane.tokenFor('one'), plane.tokenFor('two'))
  const cases: [string, string, object, number, string][] = [
    ['GET', '/apis/nope/v1/foos', {}, 404, ''],
    ['GET', '/nope', {}, 404, ''],
    ['GET', base, { headers: { accept: 'application/vnd.kubernetes.protobuf' } }, 406, 'NotAcceptable'],
    ['POST', base, { body: '{' }, 400, 'BadRequest'],
    ['POST', base, { body: 'a', headers: { 'content-type': 'text/plain' } }, 415, 'UnsupportedMediaType'],
    ['POST', base, { body: JSON.stringify('x'.repeat(3 * 1024 * 1024)) }, 413, 'RequestEntityTooLarge'],
    [
      'PATCH',
      `${base}/a`,
      { body: {}, headers: { 'content-type': 'application/strategic-merge-patch+json' } },
      415,
      'UnsupportedMediaType',
    ],
    ['PUT', base, { body: {} }, 400, 'BadRequest'],
    ['PUT', '/api/v1/namespaces/default/configmaps', { body: {} }, 405, 'MethodNotAllowed'],
    ['POST', `${base}?dryRun=Some`, { body: ingress('a') }, 422, 'Invalid'],
    ['GET', `${base}?limit=x`, {}, 400, 'BadRequest'],
    ['GET', `${base}?watch=true&resourceVersion=x`, {}, 500, ''],
    ['GET', `${base}?resourceVersion=x`, {}, 400, 'BadRequest'],
    ['GET', `${base}?timeout=5`, {}, 400, 'BadRequest'],
    ['GET', `${base}?watch=true&fieldSelector=spec.x%3D1`, {}, 400, 'BadRequest'],
  ]
  for (const [method, path, options, status, reason] of cases) {
    const answer = await call(method, path, options)
    t.equal(answer.status, status, `${method} ${path}`)
    if (reason !== '') t.match(answer.body, { kind: 'Status', status: 'Failure', code: status, reason })
  }
})

t.test('a subresource neither comes nor goes, and options come from one place', async (t) => {
  const at = `${base}/kept`
  await call('POST', base, { body: ingress('kept') })
  for (const method of ['POST', 'DELETE']) {
    const refused = await call(method, `${at}/status`, method === 'POST' ? { body: ingress('kept') } : {})
    t.match(refused, { status: 405, body: { reason: 'MethodNotAllowed', details: { kind: 'multiclusteringresses' } } })
  }
  t.match(await call('POST', `${at}?dryRun=All`, { body: ingress('other') }), { status: 201 })
  t.match(await call('PATCH', base, { body: {}, headers: { 'content-type': 'application/merge-patch+json' } }), {
    status: 400,
    body: { message: 'name must be provided' },
  })
  t.match(await call('POST', '/api/v1/configmaps', { body: {} }), { status: 405, body: { details: {} } })
  t.match(await call('DELETE', `${at}?propagationPolicy=Sometime`), {
    status: 422,
    body: {
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sometime": supported values: "Foreground", "Background", "Orphan", "nil"',
    },
  })
  await call('DELETE', `${at}?dryRun=All`)
  t.match(await call('GET', at), { status: 200 })
  await call('DELETE', `${at}?dryRun=All`, { body: { kind: 'DeleteOptions', apiVersion: 'v1' } })
  t.match(await call('GET', at), { status: 404 }, 'with a body the query does not count')
})

t.test('what is not served: text, or a Status, as it is near to what the server itself serves', async (t) => {
  for (const path of ['/apis/networking.karmada.io/v1alpha1/nothings', '/apis/nope/v1/foos', '/nope']) {
    t.strictSame((await call('GET', path)).body, '404 page not found\n', path)
  }
  for (const path of ['/api/v1/nothings', '/api/v2/pods', '/apis/apps/v1/nothings', '/api/v1/nodes/a/b']) {
    const message = 'the server could not find the requested resource'
    t.match(await call('GET', path), { status: 404, body: { kind: 'Status', message, details: {} } }, path)
  }
})

t.test('discovery, plain and aggregated, and OpenAPI', async (t) => {
  const aggregated = {
    headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json' },
  }
  const groups = await call('GET', '/apis', aggregated)
  t.equal(groups.headers['content-type'], 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')
  t.match(
    groups.body.items.find((group: { metadata: { name: string } }) => group.metadata.name === 'work.karmada.io'),
    {
      versions: [{ version: 'v1alpha2' }, { version: 'v1alpha1' }],
    },
  )
  t.match((await call('GET', '/api', aggregated)).body.items, [{ versions: [{ version: 'v1' }] }])
  t.match((await call('GET', '/apis')).body, { kind: 'APIGroupList' })
  t.match((await call('GET', '/api')).body, { versions: ['v1'] })
  t.match((await call('GET', '/apis/work.karmada.io')).body, { preferredVersion: { version: 'v1alpha2' } })
  const list = (await call('GET', '/apis/networking.karmada.io/v1alpha1')).body
  t.match(
    list.resources.map(({ name }: { name: string }) => name),
    ['multiclusteringresses', 'multiclusteringresses/status'],
  )

  const { paths } = (await call('GET', '/openapi/v3')).body
  const document = (await call('GET', paths['apis/networking.karmada.io/v1alpha1'].serverRelativeURL)).body
  t.match(document.components.schemas['io.karmada.networking.v1alpha1.MultiClusterIngress'], {
    'x-kubernetes-group-version-kind': [{ kind: 'MultiClusterIngress' }],
  })
})

t.test('tables, metadata and YAML', async (t) => {
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.1' }, { hostname: 'lb.example' }] } }
  plane.core.preload([ingress('table', { metadata: { namespace: 'default', labels: { a: 'b' } }, status })])
  const as = (form: string) => ({
    headers: { accept: `application/json;as=${form};v=v1;g=meta.k8s.io,application/json` },
  })
  const table = (await call('GET', base, as('Table'))).body
  t.strictSame(
    table.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Class', 'Address', 'Age'],
  )
  t.match(table.rows[0], {
    cells: ['table', 'demo', '203.0.113.1,lb.example', /^\d+s$/],
    object: { kind: 'PartialObjectMetadata' },
  })
  const metadata = (await call('GET', base, as('PartialObjectMetadataList'))).body
  t.match(metadata, {
    kind: 'PartialObjectMetadataList',
    items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'table' } }],
  })
  t.notOk(metadata.items[0].spec)
  t.match(
    (await call('GET', `${base}/table`, { headers: { accept: 'application/yaml' } })).body,
    /^apiVersion: networking/,
  )
  const yaml = { body: 'metadata: {name: from-yaml}\ndata: {a: b}', headers: { 'content-type': 'application/yaml' } }
  t.match(await call('POST', '/api/v1/namespaces/default/configmaps', yaml), {
    status: 201,
    body: { data: { a: 'b' } },
  })
  t.match((await call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body: { spec: {} } })).body, {
    status: { allowed: true },
  })
  const warned = await call('POST', base, { body: ingress('warned', { spec: { foo: 1 } }) })
  t.equal(warned.headers['warning'], '299 - "unknown field \\"spec.foo\\""')
})

t.test('a watch is a stream of lines', async (t) => {
  const path = `${base}?watch=true&timeoutSeconds=1&resourceVersion=${plane.core.resourceVersion()}`
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const streaming = request(plane.url + path, {
    dispatcher,
    headers: { authorization: `Bearer ${plane.adminToken}`, accept },
  })
  const response = await streaming
  const place = { ...ingresses, namespace: 'default' }
  await plane.core.create(place, ingress('watched'), admin)
  await plane.core.delete({ ...place, name: 'watched' }, admin)
  const lines = (await buffer(response.body))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(lines, [{ type: 'ADDED', object: { kind: 'Table', rows: [{ cells: ['watched'] }] } }, { type: 'DELETED' }])
})

t.test('webhooks are called over HTTPS, and only where the certificate is right', async (t) => {
  const authority = await createCertificateAuthority(Date.now())
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1'])
  const seen: { url: string; agent: string; connection: number }[] = []
  const hook = createServer({ cert: certPem, key: keyPem }, async (incoming, outgoing) => {
    const review = JSON.parse((await buffer(incoming)).toString())
    seen.push({
      url: incoming.url ?? '',
      agent: incoming.headers['user-agent'] ?? '',
      connection: incoming.socket.remotePort ?? 0,
    })
    const response = { uid: review.request.uid, allowed: true, warnings: ['seen'] }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }))
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  t.teardown(() => hook.close())
  const register = (name: string, caPem: string) => {
    const webhook = {
      name: 'a.example.dev',
      clientConfig: {
        url: `https://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`,
        caBundle: Buffer.from(caPem).toString('base64'),
      },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      rules: [{ operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['multiclusteringresses'] }],
    }
    return call('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      body: { metadata: { name }, webhooks: [webhook] },
    })
  }
  await register('right', authority.caPem)
  const first = await call('POST', base, { body: ingress('hooked') })
  t.match(first, { status: 201, headers: { warning: '299 - "seen"' } })
  await call('POST', base, { body: ingress('hooked-again') })
  t.match(seen, [{ url: '/hook?timeout=10s', agent: 'kube-apiserver-admission' }, {}])
  t.equal(seen[0]?.connection, seen[1]?.connection, 'one connection, kept')
  await register('wrong', (await createCertificateAuthority(Date.now())).caPem)
  const refused = await call('POST', base, { body: ingress('refused') })
  t.match(refused, {
    status: 500,
    body: {
      message: /^Internal error occurred: failed calling webhook "a.example.dev": failed to call webhook: Post /,
    },
  })
  hook.closeAllConnections()
})

t.test('a port that is taken is said so', async (t) => {
  await t.rejects(
    startLocalControlPlane({
      clock: realClock,
      authority: await createCertificateAuthority(realClock.now()),
      port: plane.port,
    }),
    { code: 'PortInUse' },
  )
})
