/** The formats in our schemas, as strictly as the API server takes them: ajv-formats allows a space or a 60th second. */
export const FORMATS = {
  int32: { type: 'number' as const, validate: (value: number) => value >= -(2 ** 31) && value < 2 ** 31 },
  int64: { type: 'number' as const, validate: (value: number) => value >= -(2 ** 63) && value < 2 ** 63 },
  'date-time': { type: 'string' as const, validate: isDateTime },
}

function isDateTime(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)([.,]\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(text)
  if (parts === null) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number)
  return day >= 1 && day <= daysIn(year, month) && hour < 24 && minute < 60 && second < 60
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  if (month < 1 || month > 12) return 0
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}
