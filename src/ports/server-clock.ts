/** The API server's clock: the only one that all instances share. */
export interface ServerClock {
  /**
   * Milliseconds since the epoch, as far as the server's answers tell: never ahead of the server, and behind it by a
   * second and one round trip at most, as long as the two clocks run alike.
   */
  serverNow(): number
}
