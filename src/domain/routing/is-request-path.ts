/**
 * Whether a path can stand in a request as it is (RFC 3986). Nothing else is ever routed: no request could match it, and
 * a space or a line break would be something else in a proxy's configuration.
 */
export function isRequestPath(path: string): boolean {
  return path.length <= 2048 && /^\/([-A-Za-z0-9._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/.test(path)
}
