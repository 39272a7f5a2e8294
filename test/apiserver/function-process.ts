// node function-process.ts CONFIG CLOUD: the function in a process of its own, with a cloud that outlives it.
import { runFunction } from '../../src/compose/run-function.ts'
import { createProviderRegistry } from '../../src/provider/registry.ts'
import { remoteFakeProvider } from './support/remote-cloud.ts'

const [configFile = '', cloud = ''] = process.argv.slice(2)

await runFunction({
  configFile,
  environment: {},
  registry: createProviderRegistry({ fake: () => remoteFakeProvider(cloud) }),
  stopped: new Promise((resolve) => process.once('SIGTERM', resolve)),
  write: (line) => void process.stdout.write(line),
})
