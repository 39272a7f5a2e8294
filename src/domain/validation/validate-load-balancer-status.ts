import type { Finding } from '../finding.ts'
import { invalid, invalidEach } from './field-errors.ts'
import { isIpAddress } from './is-ip-address.ts'
import { checkEach, checkFields, checkText } from './json-checks.ts'
import { dns1123SubdomainFaults } from './name-faults.ts'

/**
 * The addresses in `status.loadBalancer`. Karmada registers no webhook for `/status`, yet checks this on every update
 * of the object itself: a bad address that was stored there blocks each later update, the finalizer's removal too.
 */
export function validateLoadBalancerStatus(status: unknown): Finding[] {
  return checkFields(status, ({ loadBalancer }) =>
    checkFields(loadBalancer, ({ ingress }) =>
      checkEach(ingress, (entry, index) =>
        checkFields(entry, ({ ip, hostname }) => [
          ...checkText(ip, (address) => validateIp(address, `status.loadBalancer.ingress[${index}].ip`)),
          ...checkText(hostname, (host) => validateHostname(host, `status.loadBalancer.ingress[${index}].hostname`)),
        ]),
      ),
    ),
  )
}

function validateIp(ip: string, field: string): Finding[] {
  return ip === '' || isIpAddress(ip) ? [] : [invalid(field, ip, 'must be a valid IP address')]
}

function validateHostname(hostname: string, field: string): Finding[] {
  if (hostname === '') return []
  const ip = isIpAddress(hostname) ? ['must be a DNS name, not an IP address'] : []
  return invalidEach(field, hostname, [...dns1123SubdomainFaults(hostname), ...ip])
}
