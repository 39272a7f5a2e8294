/**
 * What is wrong with a name, in the words of k8s.io/apimachinery/pkg/util/validation; nothing if it is good.
 * The patterns below are only quoted: they are checked label by label instead, in time and stack linear in a text
 * that a stranger may make megabytes long.
 */
export type NameFaults = (name: string) => string[]

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`

/** `metadata.name` of most objects, host names, classes and secrets. */
export const dns1123SubdomainFaults: NameFaults = (name) => [
  ...tooLong(name, 253),
  ...unless(
    isSubdomain(name),
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    SUBDOMAIN,
    ['example.com'],
  ),
]

export const wildcardSubdomainFaults: NameFaults = (name) => [
  ...tooLong(name, 253),
  ...unless(
    name.startsWith('*.') && isSubdomain(name.slice(2)),
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    `\\*\\.${SUBDOMAIN}`,
    ['*.example.com'],
  ),
]

/** Names of Services, and so of MultiClusterServices. */
export const dns1035LabelFaults: NameFaults = (name) => [
  ...tooLong(name, 63),
  ...unless(
    isLabel(name) && /^[a-z]/.test(name),
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    '[a-z]([-a-z0-9]*[a-z0-9])?',
    ['my-name', 'abc-123'],
  ),
]

export const dns1123LabelFaults: NameFaults = (name) => [
  ...tooLong(name, 63),
  ...(name.includes('.') && isSubdomain(name)
    ? ['must not contain dots']
    : unless(
        isLabel(name),
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        LABEL,
        ['my-name', '123-abc'],
      )),
]

/** An Ingress may name a port by the IANA rules only, which are narrower than those of a label. */
export const portNameFaults: NameFaults = (name) => [
  ...tooLong(name, 15),
  ...when(!/^[-a-z0-9]+$/.test(name), 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'),
  ...when(!/[a-z]/.test(name), 'must contain at least one letter (a-z)'),
  ...when(name.includes('--'), 'must not contain consecutive hyphens'),
  ...when(name.startsWith('-') || name.endsWith('-'), 'must not begin or end with a hyphen'),
]

/** What can stand alone in a URL's path: kinds and names of objects. */
export const pathSegmentFaults: NameFaults = (name) =>
  name === '.' || name === '..'
    ? [`may not be '${name}'`]
    : ['/', '%'].filter((illegal) => name.includes(illegal)).map((illegal) => `may not contain '${illegal}'`)

/** Shorter than a label, since Karmada makes a namespace of it: pkg/apis/cluster/validation, ValidateClusterName. */
export const clusterNameFaults: NameFaults = (name) => {
  if (name === '') return ['must be not empty']
  const long = tooLong(name, 48)
  return long.length > 0 ? long : dns1123LabelFaults(name)
}

export function portNumberFaults(port: number): string[] {
  return when(port < 1 || port > 65535, 'must be between 1 and 65535, inclusive')
}

function isSubdomain(text: string): boolean {
  return text.split('.').every(isLabel)
}

function isLabel(text: string): boolean {
  return /^[-a-z0-9]+$/.test(text) && !text.startsWith('-') && !text.endsWith('-')
}

function tooLong(name: string, most: number): string[] {
  return when(utf8Length(name) > most, `must be no more than ${most} characters`)
}

/** The API server counts bytes where its message says characters. */
function utf8Length(text: string): number {
  const beyondAscii = text.replace(/[^\u0080-\uffff]/g, '').length
  // Of a surrogate pair each half counts two.
  const ofThreeBytes = text.replace(/[^\u0800-\ud7ff\ue000-\uffff]/g, '').length
  return text.length + beyondAscii + ofThreeBytes
}

function unless(good: boolean, message: string, pattern: string, examples: readonly string[]): string[] {
  const quoted = examples.map((example) => `'${example}', `).join(' or ')
  return when(!good, `${message} (e.g. ${quoted}regex used for validation is '${pattern}')`)
}

function when(bad: boolean, fault: string): string[] {
  return bad ? [fault] : []
}
