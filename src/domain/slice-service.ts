import type { EndpointSlice } from './endpoint-slice.ts'

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'
const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by'
const KARMADAS_CONTROLLER = 'endpointslice-controller.karmada.io'
const DERIVED_PREFIX = 'derived-'

/** Collected from a member by Karmada, by whichever of its marks (the managed-by label came with v1.15). */
export function isImportedSlice({ metadata }: EndpointSlice): boolean {
  if (metadata.labels?.[MANAGED_BY_LABEL] === KARMADAS_CONTROLLER) return true
  return [...Object.keys(metadata.labels ?? {}), ...Object.keys(metadata.annotations ?? {})].some((key) =>
    key.startsWith('work.karmada.io/'),
  )
}

/**
 * The Service whose endpoints a slice holds.
 *
 * | label | made by | Service |
 * |---|---|---|
 * | `derived-web` | Karmada | web |
 * | `derived-derived-cache` | Karmada | derived-cache: one prefix is Karmada's |
 * | `derived-cache` | anybody else | derived-cache: a Service may be called so |
 * | none | any | none |
 */
export function serviceOfSlice(slice: EndpointSlice): string | undefined {
  const label = slice.metadata.labels?.[SERVICE_NAME_LABEL]
  if (label === undefined || label === '') return undefined
  return isImportedSlice(slice) && label.startsWith(DERIVED_PREFIX) ? label.slice(DERIVED_PREFIX.length) : label
}
