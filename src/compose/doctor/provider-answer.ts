import type { Asked } from '../../domain/doctor/facts.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ProviderContext } from '../../provider/multicluster.ts'
import type { Provider } from '../../provider/provider.ts'
import { ask, CannotAsk } from './ask.ts'
import type { DryRunObject } from './dry-run-object.ts'

const ANSWER_WITHIN_MS = 10_000

/**
 * Asks the provider for a balancer that nobody has: whoever answers that there is none has asked what it programs. Changes
 * nothing, by the contract of `get…`. Undefined where it balances nothing over clusters.
 */
export async function providerAnswer(
  { loadBalancer, mcsLoadBalancer }: Provider,
  { kind, object }: DryRunObject,
  { clusterId, clock }: { clusterId: string; clock: Clock },
): Promise<Asked<{ ms: number }> | undefined> {
  const context = (signal: AbortSignal): ProviderContext => ({
    signal,
    logger: UNHEARD,
    identity: {
      clusterId,
      kind: loadBalancer === undefined ? 'MultiClusterService' : 'MultiClusterIngress',
      namespace: object.metadata.namespace,
      name: object.metadata.name,
      uid: '00000000-0000-0000-0000-000000000000',
    },
    fence: '0',
    backends: { services: [] },
    certificates: [],
    fingerprint: '',
  })
  if (loadBalancer !== undefined && kind === 'MultiClusterIngress')
    return timed((signal) => loadBalancer.getLoadBalancer(object as MultiClusterIngress, context(signal)), clock)
  if (mcsLoadBalancer !== undefined && kind === 'MultiClusterService')
    return timed((signal) => mcsLoadBalancer.getMCSLoadBalancer(object as MultiClusterService, context(signal)), clock)
  return undefined
}

async function timed(
  question: (signal: AbortSignal) => Promise<unknown>,
  clock: Clock,
): Promise<Asked<{ ms: number }>> {
  const began = clock.now()
  const over = new AbortController()
  const late = `no answer within ${ANSWER_WITHIN_MS / 1_000} s`
  const cancel = clock.after(ANSWER_WITHIN_MS, () => over.abort(new CannotAsk(late)))
  // The clock's timers keep no process alive.
  const alive = setInterval(() => {}, ANSWER_WITHIN_MS)
  const tooLate = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true })
  })
  try {
    return await ask(async () => {
      await Promise.race([question(over.signal).catch(inItsWords), tooLate])
      return { ms: clock.now() - began }
    })
  } finally {
    cancel()
    clearInterval(alive)
  }
}

/** What a provider says may be shown: its contract keeps secrets out of it. */
function inItsWords(error: unknown): never {
  throw new CannotAsk(error instanceof Error ? error.message : 'it fails without a reason')
}

const ignore = () => {}
const UNHEARD: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => UNHEARD }
