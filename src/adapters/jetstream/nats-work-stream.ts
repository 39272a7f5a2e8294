import { JetStreamApiError, type JsMsg, jetstream } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import { type NatsLinkOptions, openNatsLink } from './nats-link.ts'
import { CONSUMER, prepareStreams, type StreamSettings } from './prepare-streams.ts'
import type { Delivery, WorkStream } from './work-stream.ts'

export interface NatsWorkStreamOptions extends NatsLinkOptions, StreamSettings {}

const PUT_TIMEOUT_MS = 750
// While the stream does not answer, callers are not kept waiting for it.
const SILENCE_MS = 2_000
const PULL_MS = 5_000
const PAUSE_MS = 500

/** A work stream in NATS JetStream. It is made, or brought to these settings, as soon as a server can be reached. */
export function createNatsWorkStream(
  options: NatsWorkStreamOptions,
): WorkStream & { begun: Promise<void>; close(): Promise<void> } {
  const { clock, logger, names } = options
  const link = openNatsLink(options, (manager) => prepareStreams(manager, options))
  let silentUntil = Number.NEGATIVE_INFINITY

  function available() {
    const current = link.current()
    if (current === undefined || clock.now() < silentUntil) throw unreachable('no connection')
    return current
  }

  /** Twice: what was stored and not answered is recognised by its id. */
  async function publish(subject: string, body: string, after: number, id: string): Promise<void> {
    const { connection } = available()
    const client = jetstream(connection)
    const sent = {
      msgID: id,
      timeout: PUT_TIMEOUT_MS,
      expect: { lastSubjectSequence: after, streamName: names.workStream },
    }
    try {
      await client.publish(subject, body, sent)
    } catch (error) {
      if (error instanceof JetStreamApiError) throw error
      await client.publish(subject, body, sent)
    }
  }

  /** The stream's own answers are told apart by the caller; anything else is no answer. */
  async function asked<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action()
    } catch (error) {
      if (error instanceof CatalogueError || error instanceof JetStreamApiError) throw error
      silentUntil = clock.now() + SILENCE_MS
      // A stream that was removed answers nothing either.
      link.prepareAgain()
      throw unreachable(String(error), error)
    }
  }

  /** The stream is there and refuses. */
  function refused(error: unknown): unknown {
    if (!(error instanceof JetStreamApiError)) return error
    if (error.code === NOT_STORED) {
      const message = `the stream takes nothing more (${error.message})`
      return new CatalogueError('QueueFull', message, { afterMs: 1_000, cause: error })
    }
    link.prepareAgain()
    return unreachable(error.message, error)
  }

  return {
    begun: link.begun,

    async put(subject, body, { after, id }) {
      try {
        await asked(() => publish(subject, body, after, id))
        return 'stored'
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE) return 'moved'
        throw refused(error)
      }
    },

    async last(subject) {
      try {
        const query = { last_by_subj: subject }
        const found = await asked(() => available().manager.streams.getMessage(names.workStream, query))
        return found === null ? undefined : { sequence: found.seq, body: found.string() }
      } catch (error) {
        throw refused(error)
      }
    },

    async pull(limit, take, signal) {
      try {
        const { connection } = available()
        const consumer = await jetstream(connection).consumers.get(names.workStream, CONSUMER)
        const messages = await consumer.fetch({ max_messages: limit, expires: PULL_MS })
        const stop = () => void messages.close()
        signal.addEventListener('abort', stop, { once: true })
        if (signal.aborted) stop()
        for await (const message of messages) take(deliveryOf(message))
        signal.removeEventListener('abort', stop)
      } catch (error) {
        logger.debug({ error: String(error) }, 'nothing pulled')
        if (error instanceof JetStreamApiError) link.prepareAgain()
        await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve))
      }
    },

    async bury(subject, body, reason) {
      try {
        const letter = headers()
        letter.set('Reason', reason.replace(/[\r\n]+/g, ' ').slice(0, 1_000))
        const dead = `${names.deadSubjects}.${subject.slice(names.workSubjects.length + 1)}`
        const { connection } = available()
        await asked(() => jetstream(connection).publish(dead, body, { headers: letter, timeout: PUT_TIMEOUT_MS }))
      } catch (error) {
        throw refused(error)
      }
    },

    close: () => link.close(),
  }
}

/** Codes of the server's `errors.json`. */
const WRONG_LAST_SEQUENCE = 10_071
const NOT_STORED = 10_077

/** Answers are not waited for: one that is lost costs a second pass. */
function deliveryOf(message: JsMsg): Delivery {
  return {
    subject: message.subject,
    sequence: message.seq,
    body: message.string(),
    times: message.info.deliveryCount,
    done: () => quietly(() => message.ack()),
    again: (afterMs) => quietly(() => message.nak(Math.ceil(afterMs))),
    working: () => quietly(() => message.working()),
  }
}

/** On a closed connection nothing can be said any more; the stream waits its time and hands it out again. */
function quietly(action: () => void): void {
  try {
    action()
  } catch {}
}

function unreachable(reason: string, cause?: unknown): CatalogueError {
  return new CatalogueError('QueueUnreachable', `the message broker did not take it (${reason})`, {
    afterMs: 1_000,
    cause,
  })
}
