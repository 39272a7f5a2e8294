import type { ConfigurationFault } from '../provider/registry.ts'

/** What the platform that runs us tells of itself. */
interface PlatformEnvironment {
  K_SERVICE?: string | undefined
  AWS_LAMBDA_FUNCTION_NAME?: string | undefined
}

const ELSEWHERE = 'set queue.kind to cloudevents or jetstream'

/** Settings that do not fit the platform. Values may be of any type; the schema tells those faults. */
export function platformFaults(
  { queue, server }: { queue: Record<string, unknown>; server: Record<string, unknown> },
  { K_SERVICE, AWS_LAMBDA_FUNCTION_NAME }: PlatformEnvironment,
): ConfigurationFault[] {
  const { kind } = queue
  const faults: ConfigurationFault[] = []
  if (AWS_LAMBDA_FUNCTION_NAME && (kind === undefined || kind === 'memory')) {
    const message = `AWS Lambda freezes the process after each answer, so nobody works on what the memory queue holds: ${ELSEWHERE}`
    faults.push({ field: 'queue.kind', message })
  }
  if (K_SERVICE && kind === undefined) {
    const message = `this platform may scale to zero and lose what the memory queue holds: ${ELSEWHERE}, or min-scale 1 and queue.kind: memory`
    faults.push({ field: 'queue.kind', message })
  }
  if (K_SERVICE && server['tls'] !== undefined) {
    faults.push({ field: 'server.tls', message: 'must be absent: this platform ends TLS and speaks plain HTTP to us' })
  }
  return faults
}
