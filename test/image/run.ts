// npm run test:image: builds the container image without pulling anything, runs it as a cluster would, and stops it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkAnswer, checkQueued } from '../../src/cli/check-answer.ts'
import { readFixture } from '../../src/cli/fixture.ts'
import { createFunctionClient, type FunctionClient } from '../../src/cli/function-client.ts'
import { type LeafBench, startLeafBench } from '../functions/leaf-bench.ts'
import { asQueuedWork } from '../support/fixtures.ts'
import { buildImage, IMAGE } from './build-image.ts'
import { type ContainerTools, containerTools, toolsMissing } from './container-tools.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
const counts = { passed: 0, failed: 0 }

async function check(name: string, run: () => Promise<void> | void): Promise<boolean> {
  try {
    await run()
    counts.passed += 1
    say(`ok: ${name}`)
    return true
  } catch (error) {
    counts.failed += 1
    say(`not ok: ${name}\n${String(error instanceof Error ? error.message : error).replace(/^/gm, '    ')}`)
    return false
  }
}

async function main(): Promise<void> {
  const missing = await toolsMissing()
  if (missing !== undefined) {
    say(`no image is made: ${missing}`)
    if (process.env['CI'] !== undefined) counts.failed += 1
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'image-'))
  const tools = containerTools(folder)
  const bench = await startLeafBench()
  try {
    if (await check('the Containerfile builds', () => buildImage(folder, tools))) await checkImage(folder, tools, bench)
  } finally {
    await bench.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function checkImage(folder: string, tools: ContainerTools, bench: LeafBench): Promise<void> {
  await check('it is not root, and serves by default', async () => {
    const [{ Config }] = JSON.parse(await tools.podman('image', 'inspect', IMAGE))
    assert.equal(Config.User, '65532:65532')
    assert.deepEqual(Config.Entrypoint, ['/nodejs/bin/node', '/app/index.cjs'])
    assert.deepEqual(Config.Cmd, ['serve', '--config', '/etc/webhook-cloud-provider/config.yaml'])
  })
  const runtime = await usableRuntime(tools)
  if (runtime === undefined) return
  await checkRunning(folder, tools, bench, runtime)
}

/** As a cluster restricts a container. The limits are below any machine's: raising them is not always allowed. */
const RESTRICTED = [
  ...['--rm', '--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges'],
  ...['--network=host', '--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024'],
]

/** The first that this machine lets run anything at all; every other says why not. */
async function usableRuntime({ run }: ContainerTools): Promise<string | undefined> {
  for (const runtime of ['crun', 'runc']) {
    const [code] = await once(run(runtime, ...RESTRICTED, IMAGE, 'help'), 'close')
    if (code === 0) return runtime
    say(`podman with ${runtime} cannot run a container on this machine`)
  }
  say('the image is built, and not run: this machine lets no container run')
  return undefined
}

async function checkRunning(folder: string, tools: ContainerTools, bench: LeafBench, runtime: string): Promise<void> {
  const { WCP_CONFIG_YAML = '', WCP_KUBECONFIG_YAML = '' } = bench.environment()
  const config = join(folder, 'config.yaml')
  writeFileSync(config, WCP_CONFIG_YAML, { mode: 0o644 })
  const port = await freePort()
  const container = tools.run(
    runtime,
    ...RESTRICTED,
    ...['--name=function', `--env=PORT=${port}`, `--env=WCP_KUBECONFIG_YAML=${WCP_KUBECONFIG_YAML}`],
    `--volume=${config}:/etc/webhook-cloud-provider/config.yaml:ro`,
    IMAGE,
  )
  const ended = once(container, 'close').then(([code]) => Number(code))
  const client = createFunctionClient({ url: `http://127.0.0.1:${port}`, ca: undefined, tokenFile: undefined })
  await check(`it answers a review on $PORT (podman, ${runtime})`, async () => {
    const fixture = await readFixture(join(import.meta.dirname, '../fixtures/admission/notify-create.json'))
    await untilUp(client, ended)
    assert.deepEqual(checkAnswer(fixture, await client.send(fixture.request)), [])
    assert.deepEqual(checkQueued(fixture, asQueuedWork(bench.queued())), [])
  })
  await check('its process is not root and has no capabilities; its root is read-only', async () => {
    const pid = await tools.podman('inspect', '--format', '{{.State.Pid}}', 'function')
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    assert.match(status, /^Uid:\t65532\t65532\t65532\t65532$/m)
    assert.match(status, /^CapEff:\t0+$/m)
    assert.match(status, /^NoNewPrivs:\t1$/m)
    const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n')
    const root = mounts.find((line) => line.split(' ')[4] === '/') ?? ''
    assert.match(root.split(' ')[5] ?? '', /^ro(,|$)/)
  })
  await check('it stops on SIGTERM with 0, long before it is killed', async () => {
    const started = performance.now()
    await tools.podman('kill', '--signal=TERM', 'function')
    assert.equal(await ended, 0)
    const seconds = (performance.now() - started) / 1000
    assert.ok(seconds < 10, `took ${seconds.toFixed(1)} s`)
    say(`    after ${seconds.toFixed(1)} s`)
  })
  await client.close()
}

async function untilUp(client: FunctionClient, ended: Promise<number>): Promise<void> {
  let over: number | undefined
  void ended.then((code) => {
    over = code
  })
  const isUp = () =>
    client.send({ method: 'GET', path: '/readyz' }).then(
      ({ status }) => status === 200,
      () => false,
    )
  while (!(await isUp())) {
    if (over !== undefined) assert.fail(`the container ended with ${over}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

await main()
say(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 ? 0 : 1
