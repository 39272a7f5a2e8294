const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/** Of the one Authorization header. Of two, one server sees the first and another the second: they are none. */
export function bearerOf(rawHeaders: readonly string[]): string | undefined {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization',
  )
  const [value = ''] = values
  return values.length === 1 ? BEARER.exec(value)?.[1] : undefined
}
