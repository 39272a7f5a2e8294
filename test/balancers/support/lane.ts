/** The three ways from a client to a pod. What is true of one is tried on all, under the same changes. */
export const LANES = ['caddy', 'haproxy', 'tcp'] as const
export type Lane = (typeof LANES)[number]
/** Of MultiClusterIngress. */
export const HTTP_LANES = ['caddy', 'haproxy'] as const
export type HttpLane = (typeof HTTP_LANES)[number]

export const TITLES: Readonly<Record<Lane, string>> = {
  caddy: 'Caddy, layer 7',
  haproxy: 'HAProxy, layer 7',
  tcp: 'HAProxy, layer 4',
}
