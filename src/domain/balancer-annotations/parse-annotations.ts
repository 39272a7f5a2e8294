import type { Finding } from '../finding.ts'
import type { KubernetesObject } from '../kubernetes-object.ts'
import type { AnnotationValue } from './annotation-values.ts'

/** What objects may ask of their balancer under our own name. */
export const ANNOTATION_PREFIX = 'load-balancer.webhook-cloud-provider.dev/'

/** One annotation; its value is of the type of its option. */
export type AnnotationRow<Options> = {
  [Option in keyof Options]-?: { option: Option } & AnnotationValue<NonNullable<Options[Option]>>
}[keyof Options]

export interface ParsedAnnotations<Options> {
  /** Without those that have a fault. */
  options: Partial<Options>
  findings: Finding[]
}

/** The annotations under our prefix as typed options; a misspelt one is a fault, not a silence. */
export function parseAnnotations<Options>(
  { metadata }: KubernetesObject,
  table: Readonly<Record<string, AnnotationRow<Options>>>,
): ParsedAnnotations<Options> {
  const given = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(ANNOTATION_PREFIX))
  const options: Partial<Options> = {}
  const findings: Finding[] = []
  for (const [key, text] of given) {
    const short = key.slice(ANNOTATION_PREFIX.length)
    const row = Object.hasOwn(table, short) ? table[short] : undefined
    const parsed = row?.parse(text.trim())
    if (row === undefined || parsed === undefined) findings.push(unknownAnnotation(key))
    else if ('fault' in parsed) findings.push(invalidAnnotation(short, text, parsed.fault))
    else options[row.option] = parsed.value
  }
  return { options, findings }
}

/** Named without the prefix. */
export function invalidAnnotation(short: string, text: string, fault: string): Finding {
  const message = `Invalid value: ${JSON.stringify(text)}: ${fault}`
  return { field: `metadata.annotations[${ANNOTATION_PREFIX}${short}]`, reason: 'FieldValueInvalid', message }
}

function unknownAnnotation(key: string): Finding {
  const message = `Unsupported value: ${JSON.stringify(key)}: no such annotation; check the spelling`
  return { field: `metadata.annotations[${key}]`, reason: 'FieldValueNotSupported', message }
}
