/** What the contract needs to know of an API server. */
export interface ServerUnderTest {
  name: string
  url: string
  caPem: string
  admin: KnownUser
  /** May do what it likes with contract.test, and nothing else. */
  plain: KnownUser
  compact(): Promise<void>
}

export interface KnownUser {
  token: string
  username: string
  groups: readonly string[]
}
