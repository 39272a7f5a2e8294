/** Of a token file, which has several lines while tokens are rotated; the empty text where there is none. */
export function firstToken(text: string): string {
  return text.trim().split(/\s/, 1)[0] ?? ''
}
