import {
  createFunctionHandler,
  createProviderRegistry,
  decodeLambdaEvent,
  encodeLambdaAnswer,
  type LambdaEvent,
} from 'webhook-cloud-provider'
import { acmeProvider } from './provider.ts'

const started = createFunctionHandler({
  configFile: 'config.yaml',
  environment: process.env,
  registry: createProviderRegistry({
    acme: ({ options }) => acmeProvider(String(options['endpoint']), String(options['token'])),
  }),
  // AWS Lambda freezes the process after the answer.
  worksBetweenRequests: false,
  write: (line) => void process.stdout.write(line),
})

export async function handler(event: LambdaEvent) {
  const { answer } = await started
  return encodeLambdaAnswer(event, await answer(decodeLambdaEvent(event)))
}
