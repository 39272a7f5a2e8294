import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { emptyNamespace } from './empty-namespace.ts'

/** Runs the story while these namespaces are emptied once they are deleted, as a whole control plane would. */
export async function withNamespaceController<T>(
  admin: ApiClient,
  namespaces: readonly string[],
  story: () => Promise<T>,
): Promise<T> {
  let isOver = false
  const emptied = emptyUntil(admin, namespaces, () => isOver).then(
    () => undefined,
    (error: unknown) => error,
  )
  try {
    return await story()
  } finally {
    isOver = true
    const failure = await emptied
    if (failure !== undefined) process.stdout.write(`    a namespace could not be emptied: ${failure}\n`)
  }
}

async function emptyUntil(admin: ApiClient, namespaces: readonly string[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { items = [] } = await mustBe(200, admin.get('/api/v1/namespaces'))
    for (const { name = '', deletionTimestamp } of items.map(({ metadata }) => metadata))
      if (deletionTimestamp !== undefined && namespaces.includes(name)) await emptyNamespace(admin, name, 60_000)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
