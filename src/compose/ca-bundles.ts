import { splitBundle } from '../adapters/certificates/read-certificates.ts'
import { CatalogueError, isCatalogueError } from '../domain/catalogue-error.ts'
import { caBundlePatch, isInjectedByAnother } from '../domain/certificates/ca-bundle-patch.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import { isOurWebhook, type WebhookConfiguration } from '../domain/webhook-configuration.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'

const KINDS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const

type ConfigurationKey = ObjectKey & { kind: (typeof KINDS)[number] }

/** The webhook configurations that are ours, as one API server has them. */
export interface FoundBundles {
  store: ClusterStore
  configurations: { key: ConfigurationKey; object: WebhookConfiguration }[]
  /** Whether the authority of this fingerprint is in the bundle of every webhook of ours. */
  allTrust(fingerprint: string): boolean
}

/** Throws `CertificateInvalid` where cert-manager keeps the bundle. */
export async function findBundles(
  store: ClusterStore,
  names: readonly string[],
  signal: AbortSignal,
): Promise<FoundBundles> {
  const configurations: FoundBundles['configurations'] = []
  for (const kind of KINDS) {
    for (const name of names) {
      const object = await store.get({ kind, namespace: '', name }, { signal })
      if (object === undefined) continue
      const key = { ...keyOf(kind, object), kind }
      requireOurs(key, object)
      configurations.push({ key, object })
    }
  }
  return {
    store,
    configurations,
    allTrust: (fingerprint) =>
      configurations.length > 0 && configurations.every(({ object }) => trusts(object, fingerprint)),
  }
}

/** How many webhooks of each configuration would get another bundle. */
export function outdatedBundles(
  { configurations }: FoundBundles,
  bundlePem: string,
): { key: ObjectKey; count: number }[] {
  return configurations.map(({ key, object }) => ({ key, count: caBundlePatch(object, encode(bundlePem)).length / 2 }))
}

// Somebody reorders the list of webhooks again and again: that ends.
const ATTEMPTS = 5

/** Writes where a webhook of ours has another bundle, and nowhere else. */
export async function publishBundle({ store, configurations }: FoundBundles, bundlePem: string, signal: AbortSignal) {
  for (const { key, object } of configurations) {
    await replaceBundle(store, key, object, encode(bundlePem), signal)
  }
}

async function replaceBundle(
  store: ClusterStore,
  key: ConfigurationKey,
  first: WebhookConfiguration,
  caBundle: string,
  signal: AbortSignal,
): Promise<void> {
  let object: WebhookConfiguration | undefined = first
  for (let attempt = 1; object !== undefined; attempt += 1) {
    const operations = caBundlePatch(object, caBundle)
    if (operations.length === 0) return
    try {
      await store.patch(key, { type: 'json', operations }, { signal })
      return
    } catch (error) {
      if (isCatalogueError(error, 'NotFound')) return
      if (!isCatalogueError(error, 'Conflict') || attempt === ATTEMPTS) throw error
      object = await store.get(key, { signal })
    }
  }
}

function requireOurs(key: ConfigurationKey, object: WebhookConfiguration): void {
  if (isInjectedByAnother(object)) {
    const message = `cert-manager keeps the caBundle of ${formatKey(key)}: take its annotation away, or leave certificates to it`
    throw new CatalogueError('CertificateInvalid', message, { object: key })
  }
}

function trusts({ webhooks = [] }: WebhookConfiguration, fingerprint: string): boolean {
  return webhooks
    .filter(({ name }) => isOurWebhook(name))
    .every(({ clientConfig }) => fingerprintsIn(clientConfig.caBundle ?? '').includes(fingerprint))
}

/** What cannot be read, nobody trusts. */
function fingerprintsIn(caBundle: string): string[] {
  try {
    return splitBundle(Buffer.from(caBundle, 'base64').toString()).map(({ fingerprint }) => fingerprint)
  } catch {
    return []
  }
}

function encode(bundlePem: string): string {
  return Buffer.from(bundlePem).toString('base64')
}
