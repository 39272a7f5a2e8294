import { builtInProviders } from '../../src/cli/providers.ts'
import { runFunction } from '../../src/compose/run-function.ts'

/**
 * The function as a plain Node process: a container on Knative, a Deployment, a service unit. `WCP_CONFIG` names the
 * configuration file; `PORT`, where the platform sets it, the port. With providers of your own, write a file like this one.
 */
await runFunction({
  configFile: process.env['WCP_CONFIG'] ?? '/etc/webhook-cloud-provider/config.yaml',
  environment: process.env,
  registry: builtInProviders(),
  stopped: new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  }),
  write: (line) => void process.stdout.write(line),
})
