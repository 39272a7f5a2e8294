/** A path of a rule as Caddy holds it against requests; as it stands where it is no UTF-8. */
export function decodedPath(path: string): string {
  return textOf(path) ?? path
}

/** Whether any request can match it: Caddy takes `//`, `/./` and `/../` out of theirs. */
export function isMatchable(path: string): boolean {
  const text = textOf(path)
  return text !== undefined && !/\/(\.{0,2})\/|\/\.{1,2}$/.test(text)
}

function textOf(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
