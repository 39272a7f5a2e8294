import { builtInProviders } from '../../../src/cli/providers.ts'
import { openPureDoor } from '../../../src/compose/open-pure-door.ts'
import { rootFunction } from '../root-function.ts'
import { startDoor } from '../start-door.ts'

/** Reviews of a ValidatingWebhookConfiguration. */
export const { handle, shutdown } = rootFunction(
  '/admission/validate',
  startDoor(openPureDoor('validate'), builtInProviders()),
)
