import type { RequestTarget } from '../core/core-environment.ts'

export type RequestPath =
  | { kind: 'resource'; target: RequestTarget; unknownSubresource: boolean }
  | { kind: 'core-versions' }
  | { kind: 'groups' }
  | { kind: 'group'; group: string }
  | { kind: 'group-version'; group: string; version: string }
  | { kind: 'version' }
  | { kind: 'health' }
  | { kind: 'openapi-index' }
  | { kind: 'openapi'; group: string; version: string }
  | { kind: 'unknown' }

/** What a path of the API stands for. */
export function parseRequestPath(pathname: string): RequestPath {
  const parts = pathname.split('/').filter((part) => part !== '')
  const [first, second, third, fourth, fifth] = parts
  if (first === 'version') return { kind: 'version' }
  if (first === 'healthz' || first === 'livez' || first === 'readyz') return { kind: 'health' }
  if (first === 'openapi' && second === 'v3') {
    if (third === undefined) return { kind: 'openapi-index' }
    if (third === 'api' && fourth !== undefined) return { kind: 'openapi', group: '', version: fourth }
    if (third === 'apis' && fourth !== undefined && fifth !== undefined) {
      return { kind: 'openapi', group: fourth, version: fifth }
    }
    return { kind: 'unknown' }
  }
  if (first === 'api') {
    if (second === undefined) return { kind: 'core-versions' }
    return parts.length === 2
      ? { kind: 'group-version', group: '', version: second }
      : resourcePath('', second, parts.slice(2))
  }
  if (first !== 'apis') return { kind: 'unknown' }
  if (second === undefined) return { kind: 'groups' }
  if (third === undefined) return { kind: 'group', group: second }
  return parts.length === 3
    ? { kind: 'group-version', group: second, version: third }
    : resourcePath(second, third, parts.slice(3))
}

/** `pods`, `namespaces/a/pods`, `namespaces/a/pods/b/status`; but `namespaces/a` and `namespaces/a/status`. */
function resourcePath(group: string, version: string, encoded: string[]): RequestPath {
  const rest = encoded.map(decode)
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2 && !isNamespaceSubresource(rest[2])
  const [plural = '', name, subresource] = isNamespaced ? rest.slice(2) : rest
  const namespace = isNamespaced ? rest[1] : undefined
  const target: RequestTarget = {
    group,
    version,
    plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === 'status' ? { subresource } : {}),
  }
  return { kind: 'resource', target, unknownSubresource: subresource !== undefined && subresource !== 'status' }
}

function isNamespaceSubresource(part: string | undefined): boolean {
  return part === 'status' || part === 'finalize'
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
