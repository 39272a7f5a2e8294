/** The part of a webhook that keeps it from what happens in this namespace; cluster-scoped objects pass all the same. */
export function outsideOfNamespace(namespace: string | undefined) {
  if (namespace === undefined) return {}
  const isAnother = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace] }
  return { namespaceSelector: { matchExpressions: [isAnother] } }
}
