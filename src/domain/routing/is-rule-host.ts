/** A DNS name in lower case, or `*.` and one: all that a rule or a certificate can be for. */
export function isRuleHost(host: string): boolean {
  return host.length <= 253 && /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(host)
}
