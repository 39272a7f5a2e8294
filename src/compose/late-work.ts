import type { ComposeWork, Work } from './compose-work.ts'
import type { Settings } from './load-settings.ts'
import { servedCloud } from './served-cloud.ts'

/**
 * Reconcilers, loaded with the first key or sweep: who only hands over does not pay for their code. They are loaded at
 * once where they have something to do or to say at the start.
 */
export async function workOf({ config, provider }: Settings): Promise<ComposeWork> {
  const isSaidAtStart = servedCloud(config, provider) !== undefined || provider.consistencyWindowMs !== undefined
  if (!isSaidAtStart) return lateWork
  return loadWork()
}

export async function loadWork(): Promise<ComposeWork> {
  const { composeWork } = await import('./compose-work.ts')
  return composeWork
}

const lateWork: ComposeWork = (parts) => {
  let loading: Promise<Work> | undefined
  const load = async () => (await loadWork())(parts)
  const loaded = () => {
    loading ??= load().catch((error) => {
      loading = undefined
      throw error
    })
    return loading
  }
  return {
    workOn: async (item, signal, caller) => (await loaded()).workOn(item, signal, caller),
    sweep: async (request, signal) => (await loaded()).sweep(request, signal),
  }
}
