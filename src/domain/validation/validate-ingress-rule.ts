import type { Finding } from '../finding.ts'
import { invalid, invalidEach, notSupported, required } from './field-errors.ts'
import { goQuote } from './go-quote.ts'
import { isIpAddress } from './is-ip-address.ts'
import { checkEach, checkFields, checkText, isPresent } from './json-checks.ts'
import { validateHost } from './validate-host.ts'
import { validateIngressBackend } from './validate-ingress-backend.ts'

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']
const FORBIDDEN_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const FORBIDDEN_SUFFIXES = ['/..', '/.']

/** A rule without `http` is allowed and routes nothing; karmada pkg/util/lifted, validateIngressRules. */
export function validateIngressRule(rule: unknown, field: string): Finding[] {
  return checkFields(rule, ({ host, http }) => [
    ...checkText(host, (name) => validateRuleHost(name, `${field}.host`)),
    ...(isPresent(http) ? checkFields(http, ({ paths }) => validatePaths(paths, `${field}.http.paths`)) : []),
  ])
}

function validateRuleHost(host: string, field: string): Finding[] {
  if (host === '') return []
  const ip = isIpAddress(host) ? [invalid(field, host, 'must be a DNS name, not an IP address')] : []
  return [...ip, ...validateHost(host, field)]
}

function validatePaths(paths: unknown, field: string): Finding[] {
  if (!isPresent(paths) || (Array.isArray(paths) && paths.length === 0)) return [required(field)]
  return checkEach(paths, (path, index) => validatePath(path, `${field}[${index}]`))
}

function validatePath(entry: unknown, field: string): Finding[] {
  return checkFields(entry, ({ path, pathType, backend }) => {
    if (!isPresent(pathType)) return [required(`${field}.pathType`, 'pathType must be specified')]
    return [
      ...checkText(pathType, (type) => checkText(path, (text) => validatePathText(type, text, field))),
      ...validateIngressBackend(backend, `${field}.backend`),
    ]
  })
}

function validatePathText(type: string, path: string, field: string): Finding[] {
  const relative = path.startsWith('/') ? [] : ['must be an absolute path']
  switch (type) {
    case 'Exact':
    case 'Prefix':
      return invalidEach(`${field}.path`, path, [
        ...relative,
        ...FORBIDDEN_SEQUENCES.filter((text) => path.includes(text)).map((text) => `must not contain '${text}'`),
        ...FORBIDDEN_SUFFIXES.filter((text) => path.endsWith(text)).map((text) => `cannot end with '${text}'`),
      ])
    case 'ImplementationSpecific':
      return path === '' ? [] : invalidEach(`${field}.path`, path, relative)
    default:
      return [notSupported(`${field}.pathType`, goQuote(type), PATH_TYPES)]
  }
}
