import assert from 'node:assert/strict'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { scriptsOf } from '../../support/doc-commands.ts'
import { freePort } from '../../support/free-port.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { addressesOf, ingressPath } from '../support/balanced-objects.ts'
import { removeServicesOfOthers } from '../support/cloud-installation.ts'
import { withForeignCrds } from '../support/foreign-crds.ts'
import { removeAll } from '../support/installation.ts'
import { withNamespaceController } from '../support/namespace-controller.ts'
import { type PodProcess, startPod } from '../support/pod-process.ts'
import { openTerminal, type Terminal } from '../support/reader-terminal.ts'
import { registerKarmada } from '../support/register-karmada.ts'
import { startTlsIngress } from '../support/tls-ingress.ts'
import { startTriggerBroker } from '../support/trigger-broker.ts'

const README = 'README.md'
const INSTALL = 'docs/install.md'
const NAME = 'webhook-cloud-provider'
const SECRET_PATH = '/a-secret-path'
const DEPLOYMENT = `/apis/apps/v1/namespaces/${NAME}/deployments/${NAME}`
const KNATIVE = `/apis/serving.knative.dev/v1/namespaces/${NAME}/services`
const TRIGGER = `/apis/eventing.knative.dev/v1/namespaces/${NAME}/triggers/${NAME}-work`

/**
 * The commands of the README and of docs/install.md, from the certificate to the last deletion. Host and Karmada are this one API server;
 * what a kubelet would run is a process here, with the arguments, variables and files that its pod would have.
 */
export const scenarios: Scenario[] = [
  {
    name: 'installation, word for word: a Deployment under Karmada; a sample is served, and nothing is left',
    run: (context) => withNothingLeft(context, () => underKarmada(context, 'karmada-deployment', runDeployment)),
  },
  {
    name: 'installation, word for word: Knative under Karmada; a sample is served, and nothing is left',
    run: (context) =>
      withNothingLeft(context, () =>
        withForeignCrds(context, () => underKarmada(context, 'karmada-knative', runKnativeServices)),
      ),
  },
  {
    name: 'installation: one cluster; a Service is served, uninstalled word for word, and nothing is left',
    run: (context) => withNothingLeft(context, () => withForeignCrds(context, () => underKubernetes(context))),
  },
]

/** Starts what the host cluster would run, and the way to it; answers how it is stopped. */
type RunWorkloads = (context: ScenarioContext, terminal: Terminal, port: number) => Promise<Running>

interface Running {
  output(): string
  stop(): Promise<void>
}

async function underKarmada(context: ScenarioContext, overlay: string, runWorkloads: RunWorkloads): Promise<void> {
  const { server, log } = context
  const installation = scriptsOf(README, 'installation')
  const uninstallation = scriptsOf(README, 'uninstallation')
  assert.deepEqual([installation.length, uninstallation.length], [5, 2], 'scripts of the document')
  const [makeCertificate = '', tellKarmada = '', tellHost = '', serveSample = '', examine = ''] = installation
  const [stopAskingAndRunning = '', removeTheRest = ''] = uninstallation
  const port = await freePort()
  const terminal = await openTerminal(server, {
    OVERLAY: overlay,
    HOST: server.kubeconfigPath,
    KARMADA: server.kubeconfigPath,
    KARMADA_SERVER: server.url,
    IMAGE: 'registry.example.com/webhook-cloud-provider:0.1.0',
    HOST_NAME: 'localhost',
    URL: `https://localhost:${port}${SECRET_PATH}`,
  })
  for (const script of [makeCertificate, tellKarmada, tellHost]) await terminal.run(script)
  const running = await runWorkloads(context, terminal, port)
  await whileRunning(running, log, async () => {
    await terminal.run(serveSample)
    await sampleIsServed(context)
    // Its CronJob would have, by now.
    await terminal.run('wcp sweep --url "$URL" --ca ca.crt')
    const karmada = await registerKarmada(context)
    try {
      await terminal.run(`${examine} --strict`)
    } finally {
      await karmada.remove()
    }
    await terminal.run(stopAskingAndRunning)
  })
  await terminal.run(removeTheRest)
  log(`${installation.length + uninstallation.length} scripts as they are in ${README}`)
}

async function runDeployment({ admin }: ScenarioContext, { directory }: Terminal, port: number): Promise<Running> {
  return startPod(admin, { workload: DEPLOYMENT, directory, environment: { PORT: String(port) } })
}

/** The ingress leads to the Service for reviews, the Broker to the one for work. */
async function runKnativeServices({ admin }: ScenarioContext, { directory }: Terminal, port: number): Promise<Running> {
  const [doorsPort, workPort] = [await freePort(), await freePort()]
  const broker = await startTriggerBroker(admin, TRIGGER, workPort)
  const start = (name: string, own: number) =>
    startPod(admin, {
      workload: `${KNATIVE}/${name}`,
      directory,
      environment: { PORT: String(own), K_SERVICE: name, K_SINK: broker.url },
    })
  const pods: PodProcess[] = [await start(`${NAME}-work`, workPort), await start(NAME, doorsPort)]
  const closeIngress = await startTlsIngress(port, directory, doorsPort)
  return {
    output: () => pods.map((pod) => pod.output()).join(''),
    async stop() {
      await closeIngress()
      for (const pod of pods) await pod.stop()
      await broker.close()
      assert.deepEqual(broker.deadLetters(), [])
    },
  }
}

/** As it is applied from one file, then with a provider that serves, at a URL: a Service would need a network. */
async function underKubernetes(context: ScenarioContext): Promise<void> {
  const { admin, server, kubectl, log } = context
  await removeServicesOfOthers(admin)
  const [apply = '', uninstall = '', ...others] = scriptsOf(INSTALL, 'one-cluster')
  assert.deepEqual(others, [])
  const port = await freePort()
  const terminal = await openTerminal(server, { HOST_NAME: '127.0.0.1', URL: `https://127.0.0.1:${port}` })
  await terminal.run(apply)
  await terminal.run(scriptsOf(README, 'installation')[0] ?? '')
  await terminal.run(`
    kubectl create secret generic webhook-cloud-provider-tls -n webhook-cloud-provider \\
      --type kubernetes.io/tls --from-file tls.crt --from-file tls.key --from-file ca.crt
    wcp manifests --overlay kubernetes-ccm --provider fake --url "$URL" --ca ca.crt | kubectl apply -f -`)
  const kubeconfig = server.kubeconfig((await kubectl(['create', 'token', NAME, '-n', NAME])).stdout.trim())
  const running = await startPod(admin, {
    workload: DEPLOYMENT,
    directory: terminal.directory,
    environment: { PORT: String(port) },
    inConfiguration: (text) => text.replace('{ inCluster: true }', JSON.stringify({ kubeconfig: 'kubeconfig' })),
    files: { kubeconfig },
  })
  await whileRunning(running, log, async () => {
    await terminal.run(`
      kubectl create service loadbalancer one-cluster --tcp 80:8080
      kubectl wait service/one-cluster --for=jsonpath='{.status.loadBalancer.ingress[0].ip}' --timeout=30s`)
    await terminal.run(uninstall)
  })
}

async function whileRunning(running: Running, log: (line: string) => void, story: () => Promise<void>): Promise<void> {
  try {
    await story()
  } catch (error) {
    for (const line of running.output().split('\n').slice(-15)) log(line)
    throw error
  } finally {
    await running.stop()
  }
}

async function sampleIsServed({ admin, kubectl }: ScenarioContext): Promise<void> {
  const served = await mustBe(200, admin.get(ingressPath('shop', 'storefront')))
  assert.equal(addressesOf(served).length, 1)
  assert.deepEqual(served.metadata.finalizers, [`${NAME}.dev/fake`])
  // By its reviews: no sweep runs here.
  await eventually(async () => {
    const { stdout } = await kubectl(['get', 'events', '-n', 'shop', '-o', 'jsonpath={.items[*].reason}'])
    assert.match(stdout, /EnsuredLoadBalancer/)
  })
}

/** Other scenarios share the names; what they left is no finding of this one. */
async function withNothingLeft(context: ScenarioContext, story: () => Promise<void>): Promise<void> {
  const { admin, kubectl } = context
  await withNamespaceController(admin, [NAME, 'shop'], async () => {
    await kubectl(['delete', '--ignore-not-found', 'namespace', NAME, 'shop'])
    await kubectl(['delete', '--ignore-not-found', 'ingressclass', 'fake'])
    await kubectl(['delete', '--ignore-not-found', 'clusterrole,clusterrolebinding', NAME])
    try {
      await story()
    } catch (error) {
      await releaseEverything(context)
      throw error
    }
    for (const name of [NAME, 'shop'])
      await eventually(() => mustBe(404, admin.get(`/api/v1/namespaces/${name}`)), 20_000)
  })
  const { stdout } = await kubectl(['api-resources', '--verbs=list', '-o', 'name'])
  const kinds = stdout.split('\n').filter(Boolean).join(',')
  const label = `app.kubernetes.io/part-of=${NAME}`
  const labelled = await kubectl(['get', kinds, '--all-namespaces', '-l', label, '-o', 'name'])
  assert.equal(labelled.stdout, '', 'labelled as ours')
  const shared = 'mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,clusterrolebindings'
  const named = await kubectl(['get', `${shared},ingressclasses`, '-o', 'name'])
  const ours = named.stdout.split('\n').filter((line) => line.endsWith(`/${NAME}`) || line.endsWith('/fake'))
  assert.deepEqual(ours, [], 'named as ours')
}

/** A story that failed half way must not keep the next from its namespaces. */
async function releaseEverything({ admin, kubectl }: ScenarioContext): Promise<void> {
  const webhooks = 'mutatingwebhookconfigurations,validatingwebhookconfigurations'
  await kubectl(['delete', '--ignore-not-found', webhooks, NAME])
  await removeAll(admin, 'multiclusteringresses')
  await removeServicesOfOthers(admin)
}
