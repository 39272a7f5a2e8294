import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import { buildIngress } from './build-objects.ts'

/** One rule of an ingress; its Service is named after its place: `s0`, `s1`, … */
export interface TableRule {
  host?: string
  path: string
  pathType: 'Exact' | 'Prefix' | 'ImplementationSpecific'
}

/** A request to an ingress with these rules, and the rule that takes it; none is the default backend, Service `fallback`. */
export interface PathRow {
  rules: TableRule[]
  host: string
  path: string
  takenBy?: number
}

const prefix = (path: string, host?: string): TableRule => ({ path, pathType: 'Prefix', ...(host && { host }) })
const exact = (path: string, host?: string): TableRule => ({ path, pathType: 'Exact', ...(host && { host }) })
const specific = (path: string): TableRule => ({ path, pathType: 'ImplementationSpecific' })

const row = (rules: TableRule[], path: string, takenBy?: number, host = 'foo.bar.com'): PathRow => ({
  rules,
  host,
  path,
  ...(takenBy === undefined ? {} : { takenBy }),
})

/** Every row of "Path types, examples" in the Kubernetes documentation of Ingress. */
const DOCUMENTED_PATHS: readonly PathRow[] = [
  ...['/', '/foo', '/foo/bar', '/a/b/c/'].map((path) => row([prefix('/')], path, 0)),
  row([exact('/foo')], '/foo', 0),
  row([exact('/foo')], '/bar'),
  row([exact('/foo')], '/foo/'),
  row([exact('/foo/')], '/foo'),
  row([prefix('/foo')], '/foo', 0),
  row([prefix('/foo')], '/foo/', 0),
  row([prefix('/foo/')], '/foo', 0),
  row([prefix('/foo/')], '/foo/', 0),
  row([prefix('/aaa/bb')], '/aaa/bbb'),
  row([prefix('/aaa/bbb')], '/aaa/bbb', 0),
  row([prefix('/aaa/bbb/')], '/aaa/bbb', 0),
  row([prefix('/aaa/bbb')], '/aaa/bbb/', 0),
  row([prefix('/aaa/bbb')], '/aaa/bbb/ccc', 0),
  row([prefix('/aaa/bbb')], '/aaa/bbbxyz'),
  row([prefix('/'), prefix('/aaa')], '/aaa/ccc', 1),
  row([prefix('/'), prefix('/aaa'), prefix('/aaa/bbb')], '/aaa/bbb', 2),
  row([prefix('/'), prefix('/aaa'), prefix('/aaa/bbb')], '/ccc', 0),
  row([prefix('/aaa')], '/ccc'),
  row([prefix('/foo'), exact('/foo')], '/foo', 1),
]

/** Every row of "Hostname wildcards". */
const DOCUMENTED_HOSTS: readonly PathRow[] = [
  row([prefix('/', '*.foo.com')], '/', 0, 'bar.foo.com'),
  row([prefix('/', '*.foo.com')], '/', undefined, 'baz.bar.foo.com'),
  row([prefix('/', '*.foo.com')], '/', undefined, 'foo.com'),
]

/** What the documentation says in words, or leaves open, and is so here. */
const BESIDE: readonly PathRow[] = [
  row([exact('/foo')], '/Foo'),
  row([prefix('/foo')], '/FOO/bar'),
  row([prefix('/foo/'), exact('/foo/')], '/foo/', 1),
  row([prefix('/foo/'), exact('/foo/')], '/foo', 0),
  row([prefix('/foo'), exact('/foo/bar')], '/foo/bar', 1),
  row([prefix('/foo/bar'), exact('/foo')], '/foo/bar', 0),
  row([prefix('/foo/bar'), prefix('/foo')], '/foo/bart', 1),
  row([exact('/'), prefix('/foo')], '/', 0),
  row([exact('/')], '/foo'),
  row([specific('/foo')], '/foo/bar', 0),
  row([specific('/foo')], '/foobar'),
  row([specific('')], '/any', 0),
  row([prefix('/a.b')], '/axb'),
  row([prefix('/a*')], '/abc'),
  row([prefix('/a*')], '/a*/c', 0),
  row([prefix('/a+b')], '/a+b', 0),
  row([exact('/caf%C3%A9')], '/caf%C3%A9', 0),
  row([prefix('/foo')], '/foo?bar=/other', 0),
  row([exact('/foo')], '/foo?bar', 0),
  // A request names a port where it is not the usual one, and names are written in any case.
  row([prefix('/', 'foo.bar.com')], '/', 0, 'foo.bar.com:8080'),
  row([prefix('/', 'foo.bar.com')], '/', 0, 'FOO.Bar.com'),
  row([prefix('/', '*.bar.com')], '/', 0, 'FOO.Bar.com'),
  row([prefix('/', 'foo.bar.com')], '/', undefined, 'other.com'),
  // The most specific host decides, whether it has the path or not.
  row([prefix('/', '*.bar.com'), prefix('/', 'foo.bar.com')], '/', 1),
  row([prefix('/'), prefix('/', '*.bar.com')], '/', 1),
  row([prefix('/'), prefix('/a', 'foo.bar.com')], '/b'),
  row([prefix('/', '*.bar.com'), prefix('/a', 'foo.bar.com')], '/b'),
  row([prefix('/'), exact('/a', '*.bar.com')], '/b'),
  row([exact('/a', '*.bar.com'), prefix('/', 'foo.bar.com')], '/a', 1),
  row([prefix('/'), prefix('/a', 'foo.bar.com')], '/a', 0, 'other.com'),
]

/** For every proxy, and for the reference that they are held against. */
export const PATH_TABLE: readonly PathRow[] = [...DOCUMENTED_PATHS, ...DOCUMENTED_HOSTS, ...BESIDE]

/** `Prefix / *.foo.com: bar.foo.com/ → s0` */
export function describeRow({ rules, host, path, takenBy }: PathRow): string {
  const written = rules.map((rule) => [rule.pathType, rule.path, rule.host ?? []].flat().join(' ')).join(', ')
  return `${written}: ${host}${path} → ${serviceOfRow({ takenBy })}`
}

export function serviceOfRow({ takenBy }: { takenBy?: number | undefined }): string {
  return takenBy === undefined ? 'fallback' : `s${takenBy}`
}

/** Each rule by itself, so that rules of one host stand in several entries. */
export function ingressOfRow({ rules }: PathRow): MultiClusterIngress {
  return buildIngress({
    spec: {
      defaultBackend: { service: { name: 'fallback', port: { number: 80 } } },
      rules: rules.map(({ host, ...path }, index) => ({
        ...(host === undefined ? {} : { host }),
        http: { paths: [{ ...path, backend: { service: { name: `s${index}`, port: { number: 80 } } } }] },
      })),
    },
  })
}
