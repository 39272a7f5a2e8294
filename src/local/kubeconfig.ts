import { stringify } from 'yaml'

export interface KubeconfigContent {
  url: string
  caPem: string
  token: string
  user: string
  namespace?: string
}

/** A kubeconfig with one cluster, one user and one context. */
export function kubeconfigOf({ url, caPem, token, user, namespace = 'default' }: KubeconfigContent): string {
  const name = 'local'
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user, namespace } }],
    'current-context': name,
  })
}
