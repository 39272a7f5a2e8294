import type { IngressRule, MultiClusterIngress } from '../../../src/domain/multi-cluster-ingress.ts'
import { buildIngress } from '../../support/build-objects.ts'

/** From 0 to 1, without 1. The same numbers on every run. */
export type Random = () => number

export function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

// Few, so that rules meet each other.
const HOSTS = ['', 'a.com', 'b.a.com', '*.a.com', '*.b.a.com', 'c.org', '*.c.org']
const SEGMENTS = ['a', 'aa', 'b', 'a.b', '%41', '~']
const PATH_TYPES = ['Exact', 'Prefix', 'ImplementationSpecific'] as const
const SERVICES = ['s0', 's1', 's2', 's3']
const REQUESTED = ['a.com', 'b.a.com', 'c.b.a.com', 'c.org', 'x.c.org', 'y.x.c.org', 'nobody.net', 'A.com:80']

/** Some rules of some hosts. What the others claim it does not. */
export function randomIngress(random: Random, others: readonly MultiClusterIngress[]): MultiClusterIngress {
  const taken = new Set(others.flatMap(claimsOf))
  const hosts = others.some(isForAnyHost) ? HOSTS.filter((host) => host !== '') : HOSTS
  const rules: IngressRule[] = []
  for (let count = 1 + Math.floor(random() * 6); count > 0; count -= 1) {
    const host = pick(random, hosts)
    const rule = {
      path: randomPath(random),
      pathType: pick(random, PATH_TYPES),
      backend: backend(pick(random, SERVICES)),
    }
    const own = { ...(host === '' ? {} : { host }), http: { paths: [rule] } }
    const [claim = ''] = claimsOf(buildIngress({ spec: { rules: [own] } }))
    if (taken.has(claim)) continue
    taken.add(claim)
    rules.push(own)
  }
  const isFallback = random() < 0.3 && hosts.includes('')
  return buildIngress({ spec: { ...(isFallback ? { defaultBackend: backend('fallback') } : {}), rules } })
}

/** One object an address: see `assign-addresses.ts`. */
function isForAnyHost({ spec }: MultiClusterIngress): boolean {
  return spec?.defaultBackend !== undefined || (spec?.rules ?? []).some(({ host = '' }) => host === '')
}

/** Near to what somebody has a rule for. */
export function randomRequest(
  random: Random,
  ingresses: readonly MultiClusterIngress[],
): { host: string; path: string } {
  const paths = ingresses.flatMap(({ spec }) => (spec?.rules ?? []).flatMap(({ http }) => http?.paths ?? []))
  const { path = '/' } = paths.length === 0 ? {} : pick(random, paths)
  const endings = ['', '', '/', '/a', 'a', '?a=/b', '/a/b']
  const asked = random() < 0.7 ? `${path}${pick(random, endings)}` : randomPath(random)
  return { host: pick(random, REQUESTED), path: asked.replaceAll('//', '/') }
}

function claimsOf({ spec }: MultiClusterIngress): string[] {
  return (spec?.rules ?? []).flatMap(({ host = '', http }) =>
    (http?.paths ?? []).map(({ path = '/', pathType }) => {
      const isExact = pathType === 'Exact'
      return `${host} ${isExact ? 'Exact' : 'Prefix'} ${isExact || path === '/' ? path : path.replace(/\/$/, '')}`
    }),
  )
}

function randomPath(random: Random): string {
  const depth = Math.floor(random() * 4)
  const segments = Array.from({ length: depth }, () => pick(random, SEGMENTS))
  const end = depth > 0 && random() < 0.25 ? '/' : ''
  return `/${segments.join('/')}${end}`
}

function backend(name: string) {
  return { service: { name, port: { number: 80 } } }
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}
