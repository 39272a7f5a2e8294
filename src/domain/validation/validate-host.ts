import type { Finding } from '../finding.ts'
import { invalidEach } from './field-errors.ts'
import { dns1123SubdomainFaults, wildcardSubdomainFaults } from './name-faults.ts'

/** A host name, or `*.` and a host name; a star anywhere makes it one of the second kind. */
export function validateHost(host: string, field: string): Finding[] {
  const faults = host.includes('*') ? wildcardSubdomainFaults(host) : dns1123SubdomainFaults(host)
  return invalidEach(field, host, faults)
}
