const CENSOR = '[redacted]'
// Deeper than anything that is logged on purpose.
const DEEPEST = 6

const SECRET_NAME =
  /authorization|token|passw|secret|credential|kubeconfig|cookie|private.?key|client.?key|api.?key|access.?key/i
/** Of a secret these tell no more than where it is, or how many there are. */
const NO_SECRET = /(name|names|file|path|count|ms)$/i

/** Secrets inside of a text: bearer and basic credentials, private keys, passwords in URLs, JSON Web Tokens. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  // A word that follows has no digit and is short: "a bearer token is required".
  [/\b(bearer|basic)\s+(?=\S*[\d=]|\S{20})[\w.~+/=-]+/gi, `$1 ${CENSOR}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, CENSOR],
  [/(\w:\/\/)[^\s/@]+@/g, `$1${CENSOR}@`],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, CENSOR],
]

/**
 * The same fields without what must not be read in a log: by the names of fields at any depth, the content of Secrets,
 * and what looks like a credential inside of a text. A net below those who log, who leave such things out by themselves.
 */
export function redact(fields: Record<string, unknown>): Record<string, unknown> {
  return redactEntries(fields, 0)
}

function redactEntries(value: object, depth: number): Record<string, unknown> {
  const isSecret = 'kind' in value && value.kind === 'Secret'
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => {
      const hidden = isSecretName(name) || (isSecret && (name === 'data' || name === 'stringData'))
      return [name, hidden && content !== undefined && content !== '' ? CENSOR : redactValue(content, depth + 1)]
    }),
  )
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !NO_SECRET.test(name)
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth > DEEPEST) return '[deeper]'
  if (value instanceof Error) return redactError(value, depth)
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, depth + 1))
  return redactEntries(value, depth)
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error
  const code = 'code' in error ? { code: redactValue(error.code, depth + 1) } : {}
  const because = cause === undefined ? {} : { cause: redactValue(cause, depth + 1) }
  return { type: name, message: redactText(message), stack: redactText(stack ?? ''), ...code, ...because }
}

function redactText(text: string): string {
  return SECRET_TEXTS.reduce((cleaned, [pattern, replacement]) => cleaned.replace(pattern, replacement), text)
}
