import { MULTI_CLUSTER_ANNOTATIONS } from './multi-cluster-annotations.ts'
import { ANNOTATION_PREFIX } from './parse-annotations.ts'

/** The table for readers, in Markdown; `docs/balancer-annotations.md` holds it, and a test compares the two. */
export function describeMultiClusterAnnotations(): string {
  const rows = Object.entries(MULTI_CLUSTER_ANNOTATIONS).map(
    ([name, { values, kinds, byDefault, meaning }]) =>
      `| \`${name}\` | ${kinds.map(shortKind).join(', ')} | ${values} | ${byDefault} | ${meaning} |`,
  )
  return [
    `Prefix: \`${ANNOTATION_PREFIX}\``,
    '',
    '| annotation | of | values | default | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

function shortKind(kind: string): string {
  return kind === 'MultiClusterIngress' ? 'MCI' : 'MCS'
}
