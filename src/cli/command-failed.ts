/** What was asked for could not be done; the message says all there is to say. Exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}
