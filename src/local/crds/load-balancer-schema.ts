import { atomicList, integer, object, text } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'

const ERROR_PATTERN =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'

/** `status.loadBalancer`; only Services tell the mode of an address. */
export function loadBalancerSchema(of: 'ingress' | 'service'): StructuralSchema {
  const port = object(
    {
      'port!': integer('int32', 'The port.'),
      'protocol!': text('TCP, UDP or SCTP.'),
      'error!': text('What is wrong with the port: a CamelCase word, or domain/Word.', {
        maxLength: 316,
        pattern: ERROR_PATTERN,
      }),
    },
    'State of one port of the balancer.',
  )
  const entry = object(
    {
      hostname: text('DNS name of the balancer, if that is how it is reached.'),
      ip: text('Address of the balancer, if that is how it is reached.'),
      ...(of === 'service' ? { ipMode: text('VIP or Proxy: whether nodes see the balancer as destination.') } : {}),
      ports: atomicList(port, 'State of its ports.'),
    },
    'One way into the balancer.',
  )
  return object({ ingress: atomicList(entry, 'The ways into the balancer.') }, 'What the balancer answers to.')
}
