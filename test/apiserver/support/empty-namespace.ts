import type { ApiClient, Body } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'

/**
 * Stands in for the namespace controller, which is part of kube-controller-manager (Karmada runs one) and not of this
 * bench. As that one does, it deletes the collections of everything in a namespace that is being deleted, as admin
 * and with admission, waits until nothing is left, and finalizes.
 */
export async function emptyNamespace(admin: ApiClient, namespace: string, withinMs: number): Promise<void> {
  const collections = await collectionsIn(admin, namespace)
  for (const path of collections) await mustBe(200, admin.delete(path))
  await eventually(
    async () => {
      for (const path of collections) {
        const { items = [] } = await mustBe(200, admin.get(path))
        if (items.length > 0) throw new Error(`${path} still has ${items.map(({ metadata }) => metadata.name)}`)
      }
    },
    withinMs,
    50,
  )
  const path = `/api/v1/namespaces/${namespace}`
  const stored = await mustBe(200, admin.get(path))
  await mustBe(200, admin.put(`${path}/finalize`, { ...stored, spec: { finalizers: [] } }))
}

async function collectionsIn(admin: ApiClient, namespace: string): Promise<string[]> {
  const groups = (await mustBe(200, admin.get('/apis')))['groups'] as { preferredVersion: { groupVersion: string } }[]
  const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)]
  const lists = await Promise.all(roots.map((root) => mustBe(200, admin.get(root))))
  return lists.flatMap((list, index) =>
    deletableIn(list).map((plural) => `${roots[index]}/namespaces/${namespace}/${plural}`),
  )
}

function deletableIn(list: Body): string[] {
  const resources = list['resources'] as { name: string; namespaced: boolean; verbs: string[] }[]
  return resources
    .filter(({ namespaced, verbs }) => namespaced && verbs.includes('deletecollection'))
    .map(({ name }) => name)
}
