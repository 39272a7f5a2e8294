import { openNotifyDoor } from '../../../src/compose/open-notify-door.ts'
import { createProviderRegistry } from '../../../src/provider/registry.ts'
import { rootFunction } from '../root-function.ts'
import { startDoor } from '../start-door.ts'

/** Reviews that announce a change. What they announce the sink brings to the function `work`. */
export const { handle, shutdown } = rootFunction(
  '/admission/notify',
  startDoor(openNotifyDoor, createProviderRegistry({})),
)
