/** A CloudEvent 1.0 to be sent. What sent it twice gives it the same id, so that duplicates are recognisable. */
export interface OutgoingEvent {
  id: string
  /** A URI-reference. */
  source: string
  type: string
  subject?: string
  /** Names of lower-case letters and digits. */
  extensions: Readonly<Record<string, string>>
  /** Sent as JSON. */
  data: unknown
}
