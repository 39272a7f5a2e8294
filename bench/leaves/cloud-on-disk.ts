// The node leaf with a cloud that lives in a file, as a real one lives elsewhere: a function of today finds what one of
// yesterday made, and nothing of the cloud but names and fingerprints is in its memory.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fromEnvironment } from '../../functions/from-environment.ts'
import { giveUp } from '../../functions/give-up.ts'
import { untilStopped } from '../../functions/until-stopped.ts'
import { runFunction } from '../../src/compose/run-function.ts'
import type { BalancerResult, ListedBalancer, LoadBalancer, ProviderContext } from '../../src/provider/multicluster.ts'
import { createProviderRegistry, type ProviderFactory } from '../../src/provider/registry.ts'

const STATUS = { ingress: [{ ip: '192.0.2.10' }] }

const onDisk: ProviderFactory = ({ options: { file } }) => ({ name: 'disk', loadBalancer: balancersIn(String(file)) })

function balancersIn(file: string): LoadBalancer {
  const fingerprints = new Map(readBalancers(file).map(({ uid, record }) => [uid, record?.fingerprint]))
  const keep = async (_: unknown, { identity, fingerprint }: ProviderContext): Promise<BalancerResult> => {
    if (fingerprints.get(identity.uid) === fingerprint) return { status: STATUS, changed: false }
    fingerprints.set(identity.uid, fingerprint)
    appendFileSync(file, `${JSON.stringify({ ...identity, record: { status: STATUS, fingerprint } })}\n`)
    return { status: STATUS, changed: true }
  }
  return {
    async getLoadBalancer(_, { identity }) {
      const fingerprint = fingerprints.get(identity.uid)
      return fingerprint === undefined ? undefined : { status: STATUS, fingerprint }
    },
    ensureLoadBalancer: keep,
    updateLoadBalancer: keep,
    async ensureLoadBalancerDeleted() {
      throw new Error('nothing is deleted here')
    },
    listLoadBalancers: async () => readBalancers(file),
  }
}

/** Of one that was made and then changed the last line counts. */
function readBalancers(file: string): ListedBalancer[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trimEnd()
  const balancers: ListedBalancer[] = JSON.parse(`[${lines.replaceAll('\n', ',')}]`)
  return [...new Map(balancers.map((balancer) => [balancer.uid, balancer])).values()]
}

const registry = createProviderRegistry({ disk: onDisk })
runFunction({ ...fromEnvironment(registry), stopped: untilStopped() }).catch(giveUp)
