// generateName keeps 58 characters of a long prefix and adds five random ones.
const LONGEST_GENERATED_PREFIX = 58

/** With what the names begin that a member's EndpointSlice controller gives to the slices of a Service. */
export function sliceNamePrefix(service: string): string {
  return `${service}-`.slice(0, LONGEST_GENERATED_PREFIX)
}
