import { createDoorHandler, type OpenADoor } from '../../src/compose/door-handler.ts'
import type { FunctionHandler } from '../../src/compose/function-handler.ts'
import type { ProviderRegistry } from '../../src/provider/registry.ts'
import { fromEnvironment } from '../from-environment.ts'
import { giveUp } from '../give-up.ts'

/** Starts a function that is only a door while its platform starts. */
export function startDoor(openDoor: OpenADoor, registry: ProviderRegistry): Promise<FunctionHandler> {
  return createDoorHandler(fromEnvironment(registry), openDoor).catch(giveUp)
}
