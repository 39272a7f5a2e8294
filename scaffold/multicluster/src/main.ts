import { createProviderRegistry, runFunction } from 'webhook-cloud-provider'
import { acmeProviderFactory, NAME } from './acme-provider.ts'

/** The whole function. */
await runFunction({
  configFile: process.env['WCP_CONFIG'] ?? 'config.yaml',
  environment: process.env,
  registry: createProviderRegistry({ [NAME]: acmeProviderFactory }),
  stopped: new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  }),
  write: (line) => void process.stdout.write(line),
}).catch((error: unknown) => {
  // What is wrong, and in which field, is in the message.
  process.stderr.write(`${error}\n`)
  process.exitCode = 1
})
