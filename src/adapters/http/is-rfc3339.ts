const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/

/** A date that exists, a time of day (a leap second may be 60) and an offset: RFC 3339 §5.6 and §5.7. */
export function isRfc3339(text: string): boolean {
  const match = TIMESTAMP.exec(text)
  if (match === null) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0))
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false
  return hour < 24 && minute < 60 && second <= 60 && offsetHour < 24 && offsetMinute < 60
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}
