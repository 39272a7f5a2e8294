import { startHandler } from '../../start-handler.ts'
import { rootFunction } from '../root-function.ts'

/** CloudEvents: changes that a source tells of, the work that the doors hand over, and sweeps (PingSource). */
export const { handle, shutdown } = rootFunction('/events', startHandler({ worksBetweenRequests: true }))
