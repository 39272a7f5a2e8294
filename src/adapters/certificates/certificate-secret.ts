import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import type { Secret } from '../../domain/secret.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import { CERTIFICATE_FILES, type CertificateFiles, type CertificateKeeper } from './certificate-keeper.ts'

const MANAGED_BY = 'app.kubernetes.io/managed-by'
const OURS = 'webhook-cloud-provider'

/** Keys of one Secret, all replaced in one write, which fails if somebody else wrote meanwhile. */
export function createCertificateSecret(
  store: ClusterStore,
  { namespace, name }: { namespace: string; name: string },
): CertificateKeeper {
  const key = { kind: 'Secret', namespace, name } as const
  let found: Secret | undefined

  return {
    place: `Secret ${namespace}/${name}`,
    async read(signal) {
      found = await store.get(key, { signal })
      if (found !== undefined) requireOurs(found)
      const files: CertificateFiles = {}
      for (const file of CERTIFICATE_FILES) {
        const value = found?.data?.[file]
        if (value) files[file] = Buffer.from(value, 'base64').toString()
      }
      return files
    },
    async write(files, signal) {
      const data = Object.fromEntries(
        Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString('base64')]),
      )
      if (found === undefined) {
        found = await store.create('Secret', newSecret(data), { signal })
        return
      }
      const { uid = null, resourceVersion = null } = found.metadata
      const body = { metadata: { uid, resourceVersion, labels: { [MANAGED_BY]: OURS } }, data }
      found = await store.patch(key, { type: 'merge', body }, { signal }).catch((error: unknown) => {
        throw isCatalogueError(error, 'Conflict') ? conflict(error) : error
      })
    },
  }

  function newSecret(data: Record<string, string>): Secret {
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, labels: { [MANAGED_BY]: OURS } },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': '', 'tls.key': '', ...data },
    }
  }

  /** An empty one that was made to be filled may be filled. */
  function requireOurs({ metadata, data = {} }: Secret): void {
    const isEmpty = Object.values(data).every((value) => value === '')
    if (isEmpty || metadata.labels?.[MANAGED_BY] === OURS) return
    const message = `holds something that wcp certs did not make: name another with --secret, or label it ${MANAGED_BY}=${OURS} to have it replaced`
    throw new CatalogueError('CertificateInvalid', message, { object: key })
  }

  function conflict(cause: unknown): CatalogueError {
    const message = 'was written by somebody else in this moment; nothing was changed here, run again'
    return new CatalogueError('Conflict', message, { object: key, cause })
  }
}
