const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** An age as kubectl shows it: two units while they matter, `5m12s`, `3h20m`, `2d5h`, then one. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 2 * MINUTE) return `${seconds}s`
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', 1, 's')
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`
  if (seconds < 8 * HOUR) return two(seconds, HOUR, 'h', MINUTE, 'm')
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`
  if (seconds < 8 * DAY) return two(seconds, DAY, 'd', HOUR, 'h')
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`
  return seconds < 8 * YEAR ? two(seconds, YEAR, 'y', DAY, 'd') : `${Math.floor(seconds / YEAR)}y`
}

function two(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small)
  return `${Math.floor(seconds / large)}${largeName}${rest === 0 ? '' : `${rest}${smallName}`}`
}
