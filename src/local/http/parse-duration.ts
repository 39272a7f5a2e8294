const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g

/** Go's notation, `1m30s`, in milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, sign = '', amount = ''] = /^([+-]?)(.*)$/.exec(text) ?? []
  if (amount === '0') return 0
  if (amount === '' || amount.replaceAll(PART, '') !== '') return undefined
  const total = [...amount.matchAll(PART)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (UNITS[unit ?? ''] ?? 0),
    0,
  )
  return sign === '-' ? -total : total
}
