import type { Finding } from '../finding.ts'
import { invalid, invalidEach, required } from './field-errors.ts'
import { checkFields, checkInteger, checkText, isPresent } from './json-checks.ts'
import {
  dns1035LabelFaults,
  dns1123SubdomainFaults,
  pathSegmentFaults,
  portNameFaults,
  portNumberFaults,
} from './name-faults.ts'

/** A backend is a Service with one port, or a resource; karmada pkg/util/lifted, validateIngressBackend. */
export function validateIngressBackend(backend: unknown, field: string): Finding[] {
  return checkFields(backend, ({ service, resource }) => {
    if (isPresent(service) && isPresent(resource))
      return [invalid(field, '', 'cannot set both resource and service backends')]
    if (isPresent(resource)) return validateResource(resource, `${field}.resource`)
    if (isPresent(service)) return validateService(service, field)
    return [invalid(field, '', 'resource or service backend is required')]
  })
}

function validateService(service: unknown, field: string): Finding[] {
  return checkFields(service, ({ name: serviceName, port }) => [
    ...checkText(serviceName, (name) =>
      name === ''
        ? [required(`${field}.service.name`)]
        : invalidEach(`${field}.service.name`, name, dns1035LabelFaults(name)),
    ),
    ...checkFields(port, ({ name: portName, number: portNumber }) =>
      checkText(portName, (name) => checkInteger(portNumber, (number) => validatePort(name, number, field))),
    ),
  ])
}

/** A port number 0 is one that is not given. */
function validatePort(name: string, number: number, field: string): Finding[] {
  if (name !== '' && number !== 0) return [invalid(field, '', 'cannot set both port name & port number')]
  if (name !== '') return invalidEach(`${field}.service.port.name`, name, portNameFaults(name))
  if (number !== 0) return invalidEach(`${field}.service.port.number`, number, portNumberFaults(number))
  return [required(field, 'port name or number is required')]
}

function validateResource(resource: unknown, field: string): Finding[] {
  return checkFields(resource, ({ apiGroup, kind, name }) => [
    // An empty group is denied: the core group is one that is not given.
    ...(isPresent(apiGroup)
      ? checkText(apiGroup, (group) => invalidEach(`${field}.apiGroup`, group, dns1123SubdomainFaults(group)))
      : []),
    ...checkText(kind, (text) => validateSegment(text, field, 'kind')),
    ...checkText(name, (text) => validateSegment(text, field, 'name')),
  ])
}

function validateSegment(text: string, parent: string, key: 'kind' | 'name'): Finding[] {
  const field = `${parent}.${key}`
  return text === '' ? [required(field, `${key} is required`)] : invalidEach(field, text, pathSegmentFaults(text))
}
