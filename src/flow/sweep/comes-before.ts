/** Of namespaces, in the order of the keys: `a-b/…` comes before `a/…`. */
export function comesBefore(a: string, b: string): boolean {
  return a !== b && `${a}/` < `${b}/`
}
