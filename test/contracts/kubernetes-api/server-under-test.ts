/** What the contract needs to know of an API server. */
export interface ServerUnderTest {
  name: string
  url: string
  caPem: string
  admin: KnownUser
  /** May do what it likes with contract.test, and nothing else. */
  plain: KnownUser
  /** Forgets the history: of what was before now, nothing can be told any more. */
  forget(): Promise<void>
}

export interface KnownUser {
  token: string
  username: string
  groups: readonly string[]
}
