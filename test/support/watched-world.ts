import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { readSink } from '../../src/adapters/cloudevents/read-sink.ts'
import type { WatchedResource } from '../../src/adapters/kubernetes/watched-resource.ts'
import { type RunWatchOptions, runWatch, type WatchTuning } from '../../src/compose/run-watch.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Logger } from '../../src/ports/logger.ts'
import { type BreakableApi, startBreakableApi } from './breakable-api.ts'
import { type EventReceiver, startEventReceiver } from './event-receiver.ts'
import type { LogLine } from './open-app.ts'

export const INGRESSES: WatchedResource = {
  group: 'networking.karmada.io',
  version: 'v1alpha1',
  plural: 'multiclusteringresses',
  kind: 'MultiClusterIngress',
  metadataOnly: false,
}

/** An API server and a sink that can fail, and any number of watches between them, one after the other. */
export interface WatchedWorld {
  api: BreakableApi
  sink: EventReceiver
  log: LogLine[]
  kubeconfigPath: string
  start(options?: Partial<RunWatchOptions> & { tuning?: Partial<WatchTuning> }): RunningWatch
  create(name: string): Promise<ApiObject>
  /** Any change of the content. */
  edit(name: string): Promise<ApiObject>
  remove(name: string): Promise<void>
  /** Happens by itself at the end of the test. */
  close(): Promise<void>
}

export interface RunningWatch {
  stop(): ReturnType<typeof runWatch>
}

export const clock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

// Fast enough for tests, and still growing.
const TUNING: Partial<WatchTuning> = { backoff: { firstMs: 5, longestMs: 40 }, sendTimeoutMs: 2_000 }

export async function createWatchedWorld(t: Test, resources = [INGRESSES]): Promise<WatchedWorld> {
  const api = await startBreakableApi(clock)
  const sink = await startEventReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'watch-'))
  const kubeconfigPath = join(folder, 'kubeconfig')
  writeFileSync(kubeconfigPath, api.kubeconfig)
  const log: LogLine[] = []
  const running = new Set<RunningWatch>()
  async function close(): Promise<void> {
    for (const watch of running) await watch.stop()
    await api.down()
    await sink.down()
    rmSync(folder, { recursive: true, force: true })
  }
  t.teardown(close)
  let edits = 0
  return {
    api,
    sink,
    log,
    kubeconfigPath,
    start({ tuning, ...options } = {}) {
      const { promise: stopped, resolve } = Promise.withResolvers<void>()
      const ended = runWatch({
        kubernetes: { kind: 'file', path: kubeconfigPath },
        timeoutMs: 5_000,
        resources,
        sink: readSink({ url: sink.url }, {}),
        stopped,
        drainMs: 1_000,
        clock,
        random: Math.random,
        logger: recordingLogger(log),
        tuning: { ...TUNING, ...tuning },
        ...options,
      })
      const watch = {
        stop() {
          running.delete(watch)
          resolve()
          return ended
        },
      }
      running.add(watch)
      return watch
    },
    create: async (name) => (await api.core.create(targetOf(), ingress(name), USER)).object,
    async edit(name) {
      edits += 1
      const body = { metadata: { annotations: { edit: String(edits) } } }
      return (await api.core.patch(targetOf(name), { type: 'merge', body }, USER)).object
    },
    remove: async (name) => void (await api.core.delete(targetOf(name), USER)),
    close,
  }
}

export const USER = { user: { username: 'somebody', groups: ['system:masters'] } }

function targetOf(name?: string): RequestTarget {
  const { group, version, plural } = INGRESSES
  return { group, version, plural, namespace: 'shop', ...(name === undefined ? {} : { name }) }
}

function ingress(name: string) {
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name, namespace: 'shop' },
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  }
}

function recordingLogger(log: LogLine[]): Logger {
  const at = (level: LogLine['level']) => (fields: LogLine['fields'], message: string) =>
    void log.push({ level, fields, message })
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return logger
}
