import assert from 'node:assert/strict'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'

/**
 * Until the API server's cache shows these paths, objects or lists, as they are stored. It takes the old object of an update
 * from that cache; where it is behind, the update conflicts inside the server, and webhooks are asked once more.
 */
export async function untilCached(admin: ApiClient, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await eventually(async () => {
      const [stored, cached] = [await admin.get(path), await admin.get(`${path}?resourceVersion=0`)]
      assert.deepEqual(cached.body?.items ?? cached.body, stored.body?.items ?? stored.body, `the cache of ${path}`)
    })
  }
}
