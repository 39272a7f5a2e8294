import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { QueuedWork } from '../../src/cli/check-answer.ts'
import { type Fixture, readFixture } from '../../src/cli/fixture.ts'
import { formatKey } from '../../src/domain/object-key.ts'
import type { WorkItem } from '../../src/domain/work-item.ts'

const FOLDER = join(import.meta.dirname, '../fixtures')

/** What every fixture takes for granted about the function it is sent to, and an empty cluster behind it. */
export const FIXTURE_WORLD = {
  classNames: ['multicloud'],
  defaultClassIsOurs: true,
  finalizer: 'webhook-cloud-provider.dev/fake',
  identity: 'system:serviceaccount:karmada-system:webhook-cloud-provider',
} as const

/** Every request fixture, by its path below test/fixtures. */
export async function loadFixtures(
  folders = ['admission', 'cloud-events', 'operations'],
): Promise<Map<string, Fixture>> {
  const fixtures = new Map<string, Fixture>()
  for (const folder of folders) {
    const names = (await readdir(join(FOLDER, folder))).filter((name) => name.endsWith('.json')).sort()
    for (const name of names) {
      const file = join(FOLDER, folder, name)
      fixtures.set(relative(FOLDER, file), await readFixture(file))
    }
  }
  return fixtures
}

/** Queued items in the words of a fixture. */
export function asQueuedWork(items: readonly WorkItem[]): QueuedWork[] {
  return items.map(({ key, hints }) => ({
    key: formatKey(key),
    hints: hints.map((hint) => ({ ...hint, object: formatKey(hint.object) })),
  }))
}
