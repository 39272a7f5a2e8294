/** What a pass that found nothing to do had read, and what it came to. */
export interface SettledPass {
  /** Of the object. */
  resourceVersion: string
  /** Of everything that the balancer is made from, the object and its class included. */
  versions: string
  fingerprint: string
}
