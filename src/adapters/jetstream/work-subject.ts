import type { ObjectKey } from '../../domain/object-key.ts'

/**
 * One subject a key, readable: `<prefix>.MultiClusterIngress.shop.www_example_com`. Dots part the tokens of a subject,
 * and no name of a key has an underscore.
 */
export function workSubject(prefix: string, { kind, namespace, name }: ObjectKey): string {
  return [prefix, kind, namespace === '' ? '_' : namespace, name.replaceAll('.', '_')].join('.')
}
