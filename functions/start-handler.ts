import { builtInProviders } from '../src/cli/providers.ts'
import { createFunctionHandler, type FunctionHandler, type HandlerOptions } from '../src/compose/function-handler.ts'
import { fromEnvironment } from './from-environment.ts'
import { giveUp } from './give-up.ts'

/** Starts the function while its platform starts, so that the first request does not wait for it. */
export function startHandler(options: Pick<HandlerOptions, 'worksBetweenRequests'>): Promise<FunctionHandler> {
  return createFunctionHandler({ ...fromEnvironment(builtInProviders()), ...options }).catch(giveUp)
}
