import type { FastifyInstance } from 'fastify'
import type { WorkItem } from '../../src/domain/work-item.ts'
import { createWorld } from './world.ts'

export interface ComposedApp {
  app: FastifyInstance
  /** What reached the queue, which here keeps it and works on nothing. */
  queued: WorkItem[]
  /** Faults of ours. */
  errors(): string[]
  forget(): void
}

const UNLIMITED = '{ rate: { perSecond: 1000000, burst: 1000000 } }'
const ANYONE_AT_ANY_RATE = `callers: { anyone: true, events: ${UNLIMITED}, sweep: ${UNLIMITED} }`

/** The function as it is composed, before an empty cluster: what the fixtures are written for. */
export function composedApp(): ComposedApp {
  const { runtime, logs } = createWorld({ callers: ANYONE_AT_ANY_RATE })
  const queued: WorkItem[] = []
  runtime.queue.add = async (item) => void queued.push(item)
  return {
    app: runtime.app,
    queued,
    errors: () =>
      logs.filter(({ level }) => level === 'error').map(({ fields, message }) => `${message} ${report(fields)}`),
    forget() {
      logs.length = 0
      queued.length = 0
    },
  }
}

function report(fields: object): string {
  const { err } = fields as { err?: unknown }
  return err instanceof Error ? (err.stack ?? err.message) : JSON.stringify(fields)
}
