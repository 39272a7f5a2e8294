import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { Service } from '../../domain/service.ts'
import type { EventNote } from '../event-recorder.ts'
import type { ServicePass } from './service-pass.ts'

/** What the owner reads, in upstream's words (R-SVC-6 to R-SVC-8). */
export async function tell(
  service: Service,
  notes: readonly EventNote[],
  { recorder, signal }: Pick<ServicePass, 'recorder' | 'signal'>,
): Promise<void> {
  for (const note of notes) await recorder.record(service, note, signal)
}

/** R-SVC-7. "Still working" is no failure and makes no event. */
export async function tellFailure(
  service: Service,
  what: string,
  error: unknown,
  pass: Pick<ServicePass, 'recorder' | 'signal'>,
): Promise<void> {
  if (isStillWorking(error)) return
  const message = `Error syncing load balancer: ${what}: ${plainMessage(error)}`
  await tell(service, [{ type: 'Warning', reason: 'SyncLoadBalancerFailed', message }], pass)
}

export function isStillWorking(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'ProviderRetryAfter'
}

/** What the provider or the API server said, without the name of the object that the event is shown under. */
export function plainMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return error instanceof CatalogueError && cause instanceof Error && error.code !== 'ProviderTimeout'
    ? cause.message
    : error.message
}
