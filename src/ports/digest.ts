/** A collision-resistant hash of a text, in lower-case hex (SHA-256 in production). */
export type Digest = (text: string) => string
