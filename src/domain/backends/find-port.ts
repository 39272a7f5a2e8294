import type { IngressBackend } from '../multi-cluster-ingress.ts'
import type { Backends, PortBackend, ServiceBackend } from './backends.ts'

/** Where the route of an ingress leads; undefined for a resource backend. For provider authors. */
export function findPort<State extends string>(
  { services }: Backends<State>,
  namespace: string,
  { service }: IngressBackend,
): { service: ServiceBackend<State>; port: PortBackend<State> } | undefined {
  const found = services.find((candidate) => candidate.namespace === namespace && candidate.name === service?.name)
  const { name, number } = service?.port ?? {}
  const port = found?.ports.find((candidate) =>
    name === undefined ? number === undefined || candidate.port === number : candidate.name === name,
  )
  return found === undefined || port === undefined ? undefined : { service: found, port }
}
