/**
 * What went wrong between us and Caddy's admin endpoint:
 * - `unreachable`: no answer, or none that Caddy gives; a write may have happened.
 * - `changed`: the configuration is no longer the one that was read; nothing was written.
 * - `refused`: Caddy does not take the configuration, and goes on with the one it has.
 */
export class CaddyFailure extends Error {
  readonly reason: 'unreachable' | 'changed' | 'refused'

  constructor(reason: CaddyFailure['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
