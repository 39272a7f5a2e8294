import type { OpenADoor } from './door-handler.ts'
import { pureDoors } from './pure-doors.ts'
import { settingsOf } from './settings-of.ts'

// These two ask nobody and send nothing.
const NOBODY = { KUBECONFIG: '/of/the/function/that/works', K_SINK: 'http://nobody.invalid' }

/** The door that claims, or the one that validates. Rejects with what `loadSettings` rejects with. */
export function openPureDoor(door: 'mutate' | 'validate'): OpenADoor {
  return async (options, clock) => {
    const environment = { ...NOBODY, ...options.environment }
    const { config, provider, logger } = await settingsOf({ ...options, environment }, clock)
    const { mutate, validate } = pureDoors({ config, provider, logger })
    return { config, logger, doors: door === 'mutate' ? { mutate } : { validate } }
  }
}
