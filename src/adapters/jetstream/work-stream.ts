/** What a stream does for a work queue: it keeps the latest state of each subject, and hands it to one worker at a time. */
export interface WorkStream {
  /**
   * Stores a state as the only one of its subject, provided that `after` is the last one so far (0: there is none).
   * What was sent with the same `id` before is not stored twice. Throws `QueueFull` or `QueueUnreachable`, and that soon.
   */
  put(subject: string, body: string, options: { after: number; id: string }): Promise<'stored' | 'moved'>
  last(subject: string): Promise<StoredState | undefined>
  /** Hands over up to `limit` deliveries and resolves when there were so many, after a while, or at the signal. Never rejects. */
  pull(limit: number, take: (delivery: Delivery) => void, signal: AbortSignal): Promise<void>
  /** For people: what could not be worked on. */
  bury(subject: string, body: string, reason: string): Promise<void>
}

export interface StoredState {
  /** Its place in the stream: greater than that of every earlier state of any subject. */
  sequence: number
  body: string
}

/** A state in the hands of a worker. What it does not answer for a while is handed to another one. */
export interface Delivery extends StoredState {
  subject: string
  /** How often this state was handed out, this time included. NATS 2.9 begins anew after handing it to one that had died. */
  times: number
  /** It is removed; a newer state of the subject stays. */
  done(): void
  /** It is handed out again after this time, to anybody. */
  again(afterMs: number): void
  /** It takes longer; the waiting begins anew. */
  working(): void
}
