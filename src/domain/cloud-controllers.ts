/** The controllers of a cloud, by upstream's names; each has a shorter one too (R-NM-1). */
export const CLOUD_CONTROLLERS = {
  'service-lb-controller': 'service',
  'cloud-node-controller': 'cloud-node',
  'cloud-node-lifecycle-controller': 'cloud-node-lifecycle',
  'node-route-controller': 'route',
} as const

export type CloudController = keyof typeof CLOUD_CONTROLLERS

/** As `--controllers`: `*` is all, `name` one, `-name` all but one; the first that speaks of a controller decides. */
export function isControllerEnabled(controller: CloudController, list: readonly string[]): boolean {
  const names: readonly string[] = [controller, CLOUD_CONTROLLERS[controller]]
  for (const entry of list) {
    if (names.includes(entry)) return true
    if (names.some((name) => entry === `-${name}`)) return false
  }
  return list.includes('*')
}

/** What `--controllers` may hold. */
export function isControllerEntry(entry: string): boolean {
  const names = Object.entries(CLOUD_CONTROLLERS).flat()
  return entry === '*' || names.includes(entry.replace(/^-/, ''))
}
