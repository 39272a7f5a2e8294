import { ANNOTATION_PREFIX } from '../balancer-annotations/parse-annotations.ts'
import { BALANCER_ANNOTATIONS } from './balancer-annotations.ts'

/** The table for readers, in Markdown; `docs/service-annotations.md` holds it, and a test compares the two. */
export function describeAnnotations(): string {
  const rows = Object.entries(BALANCER_ANNOTATIONS).map(
    ([name, { values, meaning, changes }]) => `| \`${name}\` | ${values} | ${changes} | ${meaning} |`,
  )
  return [
    `Prefix: \`${ANNOTATION_PREFIX}\``,
    '',
    '| annotation | values | can be set | meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}
