import { createApiClient } from '../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../contracts/kubernetes-api/bench.ts'
import { GROUP } from '../contracts/kubernetes-api/contract-crds.ts'
import type { ServerUnderTest } from '../contracts/kubernetes-api/server-under-test.ts'
import type { ApiServer } from './start-api-server.ts'

/** The real API server as the contract takes it: user `plain` may use the contract's own kinds. */
export async function apiServerUnderTest(server: ApiServer): Promise<ServerUnderTest> {
  const { url, caPem, adminToken, plainToken } = server
  const admin = createApiClient({ url, caPem, token: adminToken })
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'contract' } }
  const rbacPath = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [{ apiGroups: [GROUP], resources: ['*'], verbs: ['*'] }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'contract' }
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'plain' }]
  await mustBe(201, admin.post(`${rbacPath}/clusterroles`, { ...rbac, kind: 'ClusterRole', rules }))
  await mustBe(
    201,
    admin.post(`${rbacPath}/clusterrolebindings`, { ...rbac, kind: 'ClusterRoleBinding', roleRef, subjects }),
  )
  await admin.close()
  return {
    name: `kube-apiserver ${server.version}`,
    url,
    caPem,
    admin: { token: adminToken, username: 'admin', groups: ['system:masters', 'system:authenticated'] },
    plain: { token: plainToken, username: 'plain', groups: ['system:authenticated'] },
    // Lists and watches are told from the API server's cache, which outlives a compaction but not a restart.
    async forget() {
      await server.compact()
      await server.restart()
    },
  }
}
