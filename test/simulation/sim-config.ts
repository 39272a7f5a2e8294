import type { Config } from '../../src/config/config.ts'
import { parseConfig } from '../../src/config/parse-config.ts'
import { CLASS_NAME, FINALIZER } from '../support/build-objects.ts'
import type { Setting } from './history.ts'

export const IDENTITY = 'system:serviceaccount:karmada-system:webhook-cloud-provider'
export const CLUSTER_ID = 'default'
export const LOCK_NAMESPACE = 'locks'
export const LEASE_MS = 15_000
export const MARGIN_MS = 5_000
export const PROVIDER_DEADLINE_MS = 5_000
export { FINALIZER }

const TEXT = `
provider: { name: fake }
callers: { anyone: true }
identity: ${IDENTITY}
ingressClass: { names: [${CLASS_NAME}] }
kubernetes: { kubeconfig: /unused }
work: { deadlineMs: 30000, providerDeadlineMs: ${PROVIDER_DEADLINE_MS} }
sweep: { pageSize: 2, concurrency: 2 }
`

const BASE = (() => {
  const { config, faults } = parseConfig(TEXT, {})
  if (config === undefined) throw new TypeError(JSON.stringify(faults))
  return config
})()

export function configOf({ takeOver, propagation }: Setting): Config {
  return { ...BASE, takeOver, propagation: { enabled: propagation } }
}
