import type { Backends } from '../domain/backends/backends.ts'

/** Pods of one Service in one member cluster, one more with each revision. */
export function backendsOf({
  namespace,
  name,
  port,
  revision,
}: {
  namespace: string
  name: string
  port: number
  revision: number
}): Backends {
  const endpoints = Array.from({ length: revision }, (_, index) => ({
    address: `10.1.0.${index + 1}`,
    family: 'IPv4' as const,
    port: 8080,
    ready: true,
    serving: true,
    terminating: false,
    draining: false,
  }))
  const pool = { cluster: 'member1', state: 'serving' as const, endpoints }
  const served = { port, name: 'http', protocol: 'TCP', pools: [pool], state: 'serving' as const }
  return { services: [{ namespace, name, ports: [served] }] }
}
