import { rootFunction } from '../root-function.ts'

/** Whatever tells of a change: reviews, and CloudEvents with sweeps (PingSource) and our own work among them. */
export const { handle, shutdown } = rootFunction((headers) => (isEvent(headers) ? '/events' : '/admission/notify'))

function isEvent(headers: Record<string, string | string[] | undefined>): boolean {
  return 'ce-specversion' in headers || /^application\/cloudevents/i.test(`${headers['content-type']}`)
}
