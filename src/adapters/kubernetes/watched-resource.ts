/** A kind to list and watch, as the API serves it. */
export interface WatchedResource {
  /** Empty for the core group. */
  group: string
  version: string
  plural: string
  kind: string
  /** All namespaces when absent. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Only names and versions are asked for. */
  metadataOnly: boolean
}

export function apiVersionOfResource({ group, version }: WatchedResource): string {
  return group === '' ? version : `${group}/${version}`
}

/** Whatever was configured, the content of Secrets is never asked for. */
export function isMetadataOnly({ group, plural, metadataOnly }: WatchedResource): boolean {
  return metadataOnly || (group === '' && plural === 'secrets')
}
