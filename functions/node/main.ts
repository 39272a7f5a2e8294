import { builtInProviders } from '../../src/cli/providers.ts'
import { runFunction } from '../../src/compose/run-function.ts'
import { fromEnvironment } from '../from-environment.ts'
import { giveUp } from '../give-up.ts'
import { untilStopped } from '../until-stopped.ts'

/**
 * The function as a plain Node process, which serves TLS itself: a Deployment, a service unit. `PORT`, where it is set,
 * is the port. With providers of your own, write a file like this one.
 */
runFunction({ ...fromEnvironment(builtInProviders()), stopped: untilStopped() }).catch(giveUp)
