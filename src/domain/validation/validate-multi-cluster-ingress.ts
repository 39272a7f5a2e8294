import type { Finding } from '../finding.ts'
import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import { invalidEach, invalidLiteral } from './field-errors.ts'
import { checkEach, checkFields, checkText, type Fields, isPresent } from './json-checks.ts'
import { dns1123SubdomainFaults } from './name-faults.ts'
import { validateFinalizers } from './validate-finalizers.ts'
import { validateHost } from './validate-host.ts'
import { validateIngressBackend } from './validate-ingress-backend.ts'
import { validateIngressRule } from './validate-ingress-rule.ts'
import { validateLoadBalancerStatus } from './validate-load-balancer-status.ts'
import { validateMetadata } from './validate-metadata.ts'

/**
 * What Karmada's own webhook finds wrong with a MultiClusterIngress, in its order and words; `previous` makes it an
 * update. An update is checked whole, so an object stored before a rule was made is denied on any change of it.
 * Source: karmada pkg/webhook/multiclusteringress/validating.go.
 */
export function validateMultiClusterIngress(next: MultiClusterIngress, previous?: MultiClusterIngress): Finding[] {
  return checkFields(next, ({ metadata, spec, status }) => [
    ...checkFields(previous, (old) => validateFinalizers(metadata, old['metadata'])),
    ...validateMetadata(metadata, dns1123SubdomainFaults),
    ...checkFields(spec, validateSpec),
    ...(isPresent(previous) ? validateLoadBalancerStatus(status) : []),
  ])
}

function validateSpec({ defaultBackend, rules, tls, ingressClassName }: Fields): Finding[] {
  return [
    ...(isPresent(defaultBackend)
      ? validateIngressBackend(defaultBackend, 'spec.defaultBackend')
      : validateSomeRule(rules)),
    ...checkEach(rules, (rule, index) => validateIngressRule(rule, `spec.rules[${index}]`)),
    ...checkEach(tls, (entry, index) => validateTls(entry, `spec.tls[${index}]`)),
    // No class may be given, but not an empty one.
    ...(isPresent(ingressClassName)
      ? checkText(ingressClassName, (name) => invalidEach('spec.ingressClassName', name, dns1123SubdomainFaults(name)))
      : []),
  ]
}

function validateSomeRule(rules: unknown): Finding[] {
  const detail = 'either `defaultBackend` or `rules` must be specified'
  if (!isPresent(rules)) return [invalidLiteral('spec', '[]v1.IngressRule(nil)', detail)]
  return Array.isArray(rules) && rules.length === 0 ? [invalidLiteral('spec', '[]v1.IngressRule{}', detail)] : []
}

function validateTls(entry: unknown, field: string): Finding[] {
  return checkFields(entry, ({ hosts, secretName }) => [
    ...checkEach(hosts, (host, index) => checkText(host, (name) => validateHost(name, `${field}.hosts[${index}]`))),
    ...checkText(secretName, (name) =>
      name === '' ? [] : invalidEach(`${field}.secretName`, name, dns1123SubdomainFaults(name)),
    ),
  ])
}
