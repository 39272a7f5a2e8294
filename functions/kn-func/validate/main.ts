import { rootFunction } from '../root-function.ts'

/** Reviews of a ValidatingWebhookConfiguration. */
export const { handle, shutdown } = rootFunction(() => '/admission/validate')
