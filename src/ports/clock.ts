/** Time, passed in so that tests and the simulation own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void
}
