import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import { realClock } from './support.ts'

const run = promisify(execFile)
const binary = process.env['KUBECTL'] ?? 'kubectl'
const found = await run(binary, ['version', '--client']).then(
  () => true,
  () => false,
)
const skip = found ? false : `no kubectl: set KUBECTL or put one on the PATH (looked for ${binary})`

const WORLD = `
apiVersion: networking.karmada.io/v1alpha1
kind: MultiClusterIngress
metadata: {name: web, finalizers: [example.dev/held]}
spec:
  ingressClassName: demo
  defaultBackend: {service: {name: serve, port: {number: 80}}}
---
apiVersion: networking.karmada.io/v1alpha1
kind: MultiClusterService
metadata: {name: serve}
spec: {types: [LoadBalancer], ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: serve}
spec: {type: LoadBalancer, selector: {app: serve}, ports: [{name: http, port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve}
spec:
  replicas: 1
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec: {containers: [{name: serve, image: serve:1, ports: [{containerPort: 80}]}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: serve}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: serve}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
`

t.test('kubectl works against it', { skip }, async (t) => {
  const plane = await startLocalControlPlane({
    clock: realClock,
    authority: await createCertificateAuthority(realClock.now()),
    definitions: karmadaCrds,
  })
  const folder = await mkdtemp(join(tmpdir(), 'local-control-plane-'))
  t.teardown(async () => {
    await plane.close()
    await rm(folder, { recursive: true, force: true })
  })
  const file = async (name: string, content: string) => {
    await writeFile(join(folder, name), content)
    return join(folder, name)
  }
  const kubeconfig = await file('kubeconfig', plane.kubeconfig)
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: join(folder, 'cache') }

  /** What kubectl prints; of a failure what it says. */
  async function kubectl(...args: string[]): Promise<string> {
    const { stdout, stderr } = await run(binary, args, { env, timeout: 30_000 }).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
    return `${stdout}${stderr.replace(/^WARNING: version difference.*\n/m, '')}`.trim()
  }

  const world = await file('world.yaml', WORLD)
  t.match(
    await kubectl('apply', '-f', world),
    /ingress\S*\/web created\n.*service\S*\/serve created\nservice\/serve created\ndeployment.apps\/serve created\npropagationpolicy\S*\/serve created/,
  )
  t.equal((await kubectl('apply', '-f', world)).match(/unchanged/g)?.length, 5, 'applied twice, nothing to do')
  const changed = await file(
    'changed.yaml',
    WORLD.replace('demo', 'other')
      .replace('serve:1', 'serve:2')
      .replace('{name: http, port: 80}', '{name: http, port: 81}'),
  )
  t.match(
    await kubectl('diff', '-f', changed),
    /- {6}- image: serve:1\n\+ {6}- image: serve:2[\s\S]*\+ {2}ingressClassName: other/,
  )
  t.equal((await kubectl('apply', '-f', changed)).match(/configured/g)?.length, 3)
  t.match(await kubectl('get', 'service', 'serve', '-o', 'jsonpath={.spec.ports[*].port}'), /^81$/)
  t.match(
    await kubectl('apply', '--server-side', '-f', changed),
    /web serverside-applied[\s\S]*service\/serve serverside-applied/,
  )
  const wrong = await file('wrong.yaml', WORLD.replace('ingressClassName', 'ingressClassNames'))
  t.match(await kubectl('apply', '-f', wrong), /unknown field "spec.ingressClassNames"/)

  t.match(
    await kubectl('explain', 'mci.spec.rules.host'),
    /KIND: +MultiClusterIngress[\s\S]*FIELD: host <string>[\s\S]*DNS name the request is for/,
  )
  t.match(await kubectl('explain', 'service.spec'), /loadBalancerClass\s+<string>/)
  t.match(await kubectl('api-resources', '--api-group', 'networking.karmada.io'), /multiclusteringresses +mci/)

  const watch = execFile(binary, ['get', 'mci', '-w'], { env })
  let watched = ''
  watch.stdout?.on('data', (chunk) => {
    watched += chunk
  })
  const waiting = kubectl(
    'wait',
    'mci/web',
    '--for=jsonpath={.status.loadBalancer.ingress[0].ip}=203.0.113.7',
    '--timeout=20s',
  )
  await sleep(1500)
  const status = JSON.stringify({
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }, { hostname: 'lb.example' }] } },
  })
  t.match(await kubectl('patch', 'mci', 'web', '--subresource=status', '--type=merge', '-p', status), /patched/)
  t.match(await waiting, /condition met/)
  t.match(await kubectl('get', 'mci'), /^NAME +CLASS +ADDRESS +AGE\nweb +other +203.0.113.7,lb.example +\d+s$/)
  t.match(await kubectl('get', 'mcs'), /^NAME +TYPES +ADDRESS +AGE\nserve +LoadBalancer +\d+s$/)
  t.match(
    await kubectl('get', 'svc,deploy,pp', '-A'),
    /serve +LoadBalancer +10\.96\.\S+ +<pending> +80:\d+\/TCP[\s\S]*serve +0\/1[\s\S]*Abort/,
  )
  t.match(
    await kubectl('get', 'mci', 'web', '-o', 'yaml'),
    /^ {2}ingressClassName: other$[\s\S]*^ {4}- ip: 203.0.113.7$/m,
  )
  await sleep(300)
  watch.kill()
  t.match(watched, /web +other +\d+s\nweb +other +203.0.113.7,lb.example/, 'the watch shows the address as it comes')

  t.match(
    await kubectl('patch', 'mci', 'web', '--type=json', '-p', '[{"op":"test","path":"/kind","value":"x"}]'),
    /The request is invalid/,
  )
  t.match(
    await kubectl(
      'patch',
      'mci',
      'web',
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/ingressClassName","value":"json"}]',
    ),
    /patched/,
  )
  t.match(
    await kubectl(
      'patch',
      'deploy',
      'serve',
      '-p',
      '{"spec":{"template":{"spec":{"containers":[{"name":"serve","image":"serve:3"}]}}}}',
    ),
    /patched/,
  )
  t.equal(
    await kubectl(
      'get',
      'deploy',
      'serve',
      '-o',
      'jsonpath={.spec.template.spec.containers[0].image},{.spec.template.spec.containers[0].ports[0].containerPort}',
    ),
    'serve:3,80',
  )
  t.match(await kubectl('label', 'mci', 'web', 'tier=front'), /labeled/)
  t.match(await kubectl('annotate', 'mci', 'web', 'example.dev/note=hi'), /annotated/)
  t.match(await kubectl('get', 'mci', '-l', 'tier in (front)', '-o', 'name'), /\/web$/)
  t.match(await kubectl('get', 'mci', '-l', '!tier'), /No resources found/)
  const edited = await promisify(execFile)(binary, ['edit', 'mci', 'web'], {
    env: { ...env, KUBE_EDITOR: 'sed -i s/json/edited/' },
  })
  t.match(edited.stdout, /edited/)

  const { uid } = plane.core.get({
    group: 'networking.karmada.io',
    version: 'v1alpha1',
    plural: 'multiclusteringresses',
    namespace: 'default',
    name: 'web',
  }).metadata
  const involvedObject = {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    namespace: 'default',
    name: 'web',
    uid,
  }
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'web.1' },
    involvedObject,
    type: 'Normal',
    reason: 'Ensured',
    message: 'has an address',
    source: { component: 'test' },
    lastTimestamp: new Date().toISOString(),
    count: 1,
  }
  t.match(await kubectl('create', '-f', await file('event.json', JSON.stringify(event))), /created/)
  t.match(
    await kubectl('describe', 'mci', 'web'),
    /Ingress Class Name: +edited[\s\S]*Events:[\s\S]*Normal +Ensured +\S+ +test +has an address/,
  )
  t.match(await kubectl('events'), /Normal +Ensured +MultiClusterIngress\/web +has an address/)
  t.match(await kubectl('get', 'events'), /Normal +Ensured +multiclusteringress\/web +has an address/)
  t.match(await kubectl('describe', 'service', 'serve'), /Type: +LoadBalancer/)
  t.equal(await kubectl('auth', 'can-i', 'delete', 'mci'), 'yes')

  t.match(await kubectl('delete', 'mci', 'web', '--wait=false'), /deleted/)
  t.match(await kubectl('get', 'mci', 'web'), /edited/, 'held by its finalizer')
  const gone = kubectl('wait', 'mci/web', '--for=delete', '--timeout=20s')
  await sleep(1000)
  t.match(await kubectl('patch', 'mci', 'web', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'), /patched/)
  t.match(await gone, /condition met/)
  t.match(await kubectl('delete', '-f', world, '--ignore-not-found'), /deleted/)
  t.match(await kubectl('create', 'namespace', 'extra'), /created/)
  t.match(await kubectl('delete', 'namespace', 'extra'), /deleted/)
  t.match(await kubectl('get', 'mci,mcs,svc,deploy'), /No resources found/)
})
