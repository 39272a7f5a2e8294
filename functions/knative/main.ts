import { builtInProviders } from '../../src/cli/providers.ts'
import { runFunction } from '../../src/compose/run-function.ts'
import { fromEnvironment } from '../from-environment.ts'
import { giveUp } from '../give-up.ts'
import { untilStopped } from '../until-stopped.ts'

/**
 * The function in a container on Knative Serving or Cloud Run: plain HTTP on `$PORT`, behind an ingress that ends TLS. What
 * holds there holds also where the variables are not set: no TLS of ours, and no memory queue unless it is asked for.
 */
const given = fromEnvironment(builtInProviders())
const environment = { PORT: '8080', K_SERVICE: 'webhook-cloud-provider', ...given.environment }
runFunction({ ...given, environment, stopped: untilStopped() }).catch(giveUp)
