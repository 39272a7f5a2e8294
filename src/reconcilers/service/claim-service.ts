import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import { claimPatch, hasFinalizer, releasePatch } from '../../domain/finalizers.ts'
import type { Service } from '../../domain/service.ts'
import { SERVICE_FINALIZER } from '../../domain/service-balancer/service-standing.ts'
import type { ServicePass } from './service-pass.ts'
import { tellFailure } from './tell-service.ts'

/**
 * Adds the finalizer. Like upstream through `status`, so that the right to write Services is not needed, and to exactly
 * this version, so that no other finalizer is lost (R-SVC-12). No balancer is made for a Service unless the API server
 * answered with a copy that carries it.
 */
export async function claimService(service: Service, pass: ServicePass): Promise<Service> {
  const { store, key, signal } = pass
  const patch = { type: 'json', operations: claimPatch(service, SERVICE_FINALIZER) } as const
  try {
    const stored = await store.patch(key, patch, { signal, subresource: 'status' })
    if (hasFinalizer(stored, SERVICE_FINALIZER)) return stored
    throw new CatalogueError('ApiFailed', 'the API server took our finalizer and did not store it', { object: key })
  } catch (error) {
    await tellFailure(service, 'failed to add load balancer cleanup finalizer', error, pass)
    throw error
  }
}

/** Removes the finalizer, and only it. Undefined when the Service is gone, which is as good (R-SVC-8). */
export async function releaseService(service: Service, pass: ServicePass): Promise<Service | undefined> {
  const { store, key, signal } = pass
  const patch = { type: 'json', operations: releasePatch(service, SERVICE_FINALIZER) } as const
  try {
    return await store.patch(key, patch, { signal, subresource: 'status' })
  } catch (error) {
    if (isCatalogueError(error, 'NotFound')) return undefined
    await tellFailure(service, 'failed to remove load balancer cleanup finalizer', error, pass)
    throw error
  }
}
