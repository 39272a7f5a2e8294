import type { Finding } from '../finding.ts'
import { invalidEach, required } from './field-errors.ts'
import { checkFields, checkText, isPresent } from './json-checks.ts'
import type { NameFaults } from './name-faults.ts'

/**
 * The rules on metadata that depend on the kind: its names. The others (labels, annotations, owners, namespace) are
 * the same for every object, and the API server has applied them before it asks a validating webhook.
 */
export function validateMetadata(metadata: unknown, nameFaults: NameFaults): Finding[] {
  return checkFields(metadata, ({ name: ownName, generateName }) => [
    ...checkText(generateName, (prefix) =>
      prefix === '' ? [] : invalidEach('metadata.generateName', prefix, nameFaults(maskTrailingDash(prefix))),
    ),
    ...checkText(ownName, (name) => {
      if (name !== '') return invalidEach('metadata.name', name, nameFaults(name))
      // Karmada's code denies a nameless object, but never sees one: the server makes the name of generateName first.
      const willBeNamed = isPresent(generateName) && generateName !== ''
      return willBeNamed ? [] : [required('metadata.name', 'name or generateName is required')]
    }),
  ])
}

/** Something is appended to a prefix, so it may end in a dash where a name may not. */
function maskTrailingDash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix
}
