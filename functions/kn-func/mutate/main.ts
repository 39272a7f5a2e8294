import { rootFunction } from '../root-function.ts'

/** Reviews of a MutatingWebhookConfiguration. */
export const { handle, shutdown } = rootFunction(() => '/admission/mutate')
