// Finds or builds the real API server: kube-apiserver, etcd and kubectl.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'

type Environment = Readonly<Record<string, string | undefined>>

export interface Binaries {
  kubeApiserver: string
  etcd: string
  kubectl: string
  version: string
}

interface Pins {
  kubernetes: string
  etcd: string
  go: string
}

type Log = (line: string) => void

/** The binaries are neither there nor can they be built; the message names what is missing and the remedies. */
export class MissingTools extends Error {
  override readonly name = 'MissingTools'
}

const run = promisify(execFile)
const toolsModule = join(import.meta.dirname, 'tools')
const goPackages: Readonly<Record<string, string>> = {
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  etcd: 'go.etcd.io/etcd/server/v3',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
}
const leftoverAfterMs = 24 * 60 * 60 * 1000

/** In this order: the directory in KUBEBUILDER_ASSETS (envtest's convention), the cache, a build with Go. */
export async function provideBinaries(options: { env: Environment; log: Log }): Promise<Binaries> {
  const { env, log } = options
  if (env['KUBEBUILDER_ASSETS']) return await fromAssets(resolve(env['KUBEBUILDER_ASSETS']), log)

  const pins = await readPins()
  const directory = await cacheDirectory(env, pins)
  if ((await missingFrom(directory)).length > 0) await build(directory, pins, env, log)
  else log(`reusing Kubernetes ${pins.kubernetes} and etcd ${pins.etcd} from ${directory}`)
  return binariesIn(directory, pins.kubernetes)
}

async function fromAssets(directory: string, log: Log): Promise<Binaries> {
  const missing = await missingFrom(directory)
  if (missing.length > 0)
    throw new MissingTools(
      `KUBEBUILDER_ASSETS is ${directory}, which has no executable ${missing.join(', ')}. ` +
        'Put it there, or unset KUBEBUILDER_ASSETS to have the binaries built with Go.',
    )
  const { stdout } = await run(join(directory, 'kube-apiserver'), ['--version'])
  const version = /v\d\S*/.exec(stdout)?.[0] ?? 'unknown'
  log(`using Kubernetes ${version} from KUBEBUILDER_ASSETS, ${directory}`)
  return binariesIn(directory, version)
}

function binariesIn(directory: string, version: string): Binaries {
  return {
    kubeApiserver: join(directory, 'kube-apiserver'),
    etcd: join(directory, 'etcd'),
    kubectl: join(directory, 'kubectl'),
    version,
  }
}

async function missingFrom(directory: string): Promise<string[]> {
  const names = Object.keys(goPackages)
  const ready = await Promise.all(names.map((name) => isExecutable(join(directory, name))))
  return names.filter((_, index) => !ready[index])
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

async function readPins(): Promise<Pins> {
  const goMod = await readFile(join(toolsModule, 'go.mod'), 'utf8')
  const pinned = (pattern: RegExp): string => {
    const found = pattern.exec(goMod)?.[1]
    if (!found) throw new Error(`${join(toolsModule, 'go.mod')} has no line like ${pattern.source}`)
    return found
  }
  return {
    kubernetes: pinned(/^\s*k8s\.io\/kubernetes (v\S+)/m),
    etcd: pinned(/^\s*go\.etcd\.io\/etcd\/server\/v3 (v\S+)/m),
    go: pinned(/^go (\S+)/m),
  }
}

async function cacheDirectory(env: Environment, pins: Pins): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(toolsModule, file)))
  const key = `${pins.kubernetes}-${hash.digest('hex').slice(0, 12)}`
  return join(cacheHome(env), 'webhook-cloud-provider', 'apiserver', key)
}

function cacheHome(env: Environment): string {
  const configured = env['XDG_CACHE_HOME']
  // The XDG specification has relative paths ignored.
  if (configured && isAbsolute(configured)) return configured
  return join(env['HOME'] || homedir(), '.cache')
}

// Everything is built beside the cache and then renamed into place, so that a killed build leaves no half a cache
// and of two builders at once the first wins.
async function build(directory: string, pins: Pins, env: Environment, log: Log): Promise<void> {
  const goEnv = environmentForGo(env)
  await requireGo(pins.go, goEnv)
  await mkdir(dirname(directory), { recursive: true })
  await removeLeftovers(dirname(directory))
  const temporary = await mkdtemp(join(dirname(directory), `.building-${basename(directory)}-`))
  try {
    log(`building Kubernetes ${pins.kubernetes} and etcd ${pins.etcd} into ${directory}: once, and it takes minutes`)
    await timed('modules downloaded', log, () => go(['mod', 'download'], goEnv))
    for (const [name, goPackage] of Object.entries(goPackages))
      await timed(`${name} built`, log, () => go(buildArguments(join(temporary, name), goPackage, pins), goEnv))
    await install(temporary, directory)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

function buildArguments(output: string, goPackage: string, pins: Pins): string[] {
  const flags = ['-s', '-w', ...versionFlags(pins.kubernetes)]
  return [
    'build',
    '-mod=readonly',
    '-buildvcs=false',
    '-trimpath',
    '-ldflags',
    flags.join(' '),
    '-o',
    output,
    goPackage,
  ]
}

// A build from the module alone has no git tree to read its version from, and calls itself v0.0.0-master.
function versionFlags(version: string): string[] {
  const [major, minor] = version.slice(1).split('.')
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((variables) => [
    `-X ${variables}.gitVersion=${version}`,
    `-X ${variables}.gitMajor=${major}`,
    `-X ${variables}.gitMinor=${minor}`,
  ])
}

// Pure Go for this machine, from this module alone, whatever the caller has set for work of its own.
function environmentForGo(env: Environment): NodeJS.ProcessEnv {
  const { GOOS: _os, GOARCH: _arch, ...rest } = env
  return { ...rest, CGO_ENABLED: '0', GOWORK: 'off' }
}

async function requireGo(needed: string, env: NodeJS.ProcessEnv): Promise<void> {
  const found = await goVersion(env)
  if (found && !isOlder(found, needed)) return
  throw new MissingTools(
    `kube-apiserver, etcd and kubectl are missing: KUBEBUILDER_ASSETS is not set, nothing is cached, and ` +
      `${found ? `Go ${found} is too old to build them` : 'there is no go on the PATH to build them'}. ` +
      `Either install Go ${needed} or newer, or set KUBEBUILDER_ASSETS to a directory with the three binaries.`,
  )
}

async function goVersion(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    // Asked inside the module, where a newer Go that the go command may fetch by itself counts.
    return (await go(['env', 'GOVERSION'], env)).trim().replace(/^go/, '')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version)
  const [neededMajor = 0, neededMinor = 0] = numbersOf(than)
  return major < neededMajor || (major === neededMajor && minor < neededMinor)
}

function numbersOf(version: string): number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10))
}

async function go(parameters: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await run('go', parameters, { cwd: toolsModule, env, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

async function timed(done: string, log: Log, step: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  await step()
  log(`${done} in ${((performance.now() - start) / 1000).toFixed(1)} s`)
}

async function install(built: string, directory: string): Promise<void> {
  try {
    await rename(built, directory)
  } catch (error) {
    if ((await missingFrom(directory)).length === 0) return
    if (!isOccupied(error)) throw error
    // What is there is no complete cache, and no builder left it so: it was damaged later.
    await rename(directory, await mkdtemp(join(dirname(directory), '.building-damaged-')))
    await rename(built, directory)
  }
}

function isOccupied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')
}

// Builds that were killed. Young directories may belong to a builder at work.
async function removeLeftovers(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const path = join(parent, entry)
    if (entry.startsWith('.building-') && Date.now() - (await modifiedAt(path)) > leftoverAfterMs)
      await rm(path, { recursive: true, force: true })
  }
}

async function modifiedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs
  } catch {
    return Date.now()
  }
}
