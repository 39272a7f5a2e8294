import type { Finding } from '../finding.ts'
import type { MultiClusterService } from '../multi-cluster-service.ts'
import { duplicate, invalid, invalidEach, invalidLiteral } from './field-errors.ts'
import { goQuote } from './go-quote.ts'
import { checkEach, checkFields, checkInteger, checkText, type Fields, isPresent } from './json-checks.ts'
import { clusterNameFaults, dns1035LabelFaults, dns1123LabelFaults, portNumberFaults } from './name-faults.ts'
import { validateFinalizers } from './validate-finalizers.ts'
import { validateLoadBalancerStatus } from './validate-load-balancer-status.ts'
import { validateMetadata } from './validate-metadata.ts'

const TYPES = ['CrossCluster', 'LoadBalancer']

/**
 * What Karmada's own webhook finds wrong with a MultiClusterService, in its order and words; `previous` makes it an
 * update. The Service of the same name is not looked at.
 * Source: karmada pkg/webhook/multiclusterservice/validating.go.
 */
export function validateMultiClusterService(next: MultiClusterService, previous?: MultiClusterService): Finding[] {
  return checkFields(next, ({ metadata, spec, status }) => [
    ...checkFields(previous, (old) => validateFinalizers(metadata, old['metadata'])),
    ...(isPresent(previous) ? checkFields(previous, (old) => validateTypesUpdate(spec, old['spec'])) : []),
    ...validateMetadata(metadata, dns1035LabelFaults),
    ...checkFields(spec, validateSpec),
    ...(isPresent(previous) ? validateLoadBalancerStatus(status) : []),
  ])
}

function validateSpec({ ports, types, providerClusters, consumerClusters }: Fields): Finding[] {
  return [
    ...validatePorts(ports),
    ...validateTypes(types),
    // The paths with `range` in them are Karmada's: it kept them from an older field.
    ...validateClusters(providerClusters, 'spec.range.providerClusters'),
    ...validateClusters(consumerClusters, 'spec.range.consumerClusters'),
  ]
}

function validatePorts(ports: unknown): Finding[] {
  const seen = new Set<string>()
  return checkEach(ports, (entry, index) =>
    checkFields(entry, ({ name, port }) => [
      ...checkText(name, (text) => validatePortName(text, seen, `spec.ports[${index}].name`)),
      ...checkInteger(port, (number) => invalidEach(`spec.ports[${index}].port`, number, portNumberFaults(number))),
    ]),
  )
}

function validatePortName(name: string, seen: Set<string>, field: string): Finding[] {
  if (name === '') return []
  const repeated = seen.has(name) ? [duplicate(field, name)] : []
  seen.add(name)
  return [...invalidEach(field, name, dns1123LabelFaults(name)), ...repeated]
}

/** The same type twice is allowed, and so is none: distinct values are counted. */
function validateTypes(value: unknown): Finding[] {
  const unknown = checkEach(value, (item, index) =>
    checkText(item, (type) =>
      TYPES.includes(type) ? [] : [invalid(`spec.types[${index}]`, type, 'ExposureType Error')],
    ),
  )
  const types = typesOf(value)
  if (types === undefined || new Set(types).size <= 1) return unknown
  const detail = 'MultiClusterService types should not contain more than one type'
  return [...unknown, invalidLiteral('spec.types', literalOf(types), detail)]
}

/** Immutable since Karmada v1.9; their order counts. The old value is the one reported. */
function validateTypesUpdate(next: unknown, previous: unknown): Finding[] {
  return checkFields(next, (spec) =>
    checkFields(previous, (old) => {
      const [types, oldTypes] = [typesOf(spec['types']), typesOf(old['types'])]
      if (types === undefined || oldTypes === undefined || literalOf(types) === literalOf(oldTypes)) return []
      return [invalidLiteral('spec.types', literalOf(oldTypes), 'MultiClusterService types are immutable')]
    }),
  )
}

function validateClusters(clusters: unknown, field: string): Finding[] {
  return checkEach(clusters, (entry, index) =>
    checkFields(entry, ({ name }) =>
      checkText(name, (text) => {
        const faults = clusterNameFaults(text)
        return faults.length === 0 ? [] : [invalid(`${field}[${index}]`, text, faults.join(','))]
      }),
    ),
  )
}

/** Null if there is no list, undefined if it is none of texts. */
function typesOf(value: unknown): readonly string[] | null | undefined {
  if (!isPresent(value)) return null
  if (!Array.isArray(value)) return undefined
  const types = value.map((item: unknown) => item ?? '')
  return types.every((type) => typeof type === 'string') ? types : undefined
}

/** As Karmada's messages show a list; no list and an empty one differ there, and in its comparison too. */
function literalOf(types: readonly string[] | null): string {
  const values = types === null ? '(nil)' : `{${types.map(goQuote).join(', ')}}`
  return `[]v1alpha1.ExposureType${values}`
}
