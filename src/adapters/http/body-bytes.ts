/** The body as it was sent; empty when there was none. */
export function bodyBytes(body: unknown): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array()
}
