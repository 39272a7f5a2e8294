import { decodeLambdaEvent } from '../../src/adapters/lambda/decode-lambda-event.ts'
import { encodeLambdaAnswer } from '../../src/adapters/lambda/encode-lambda-answer.ts'
import type { LambdaAnswer, LambdaEvent } from '../../src/adapters/lambda/lambda-event.ts'
import { startHandler } from '../start-handler.ts'

const started = startHandler({ worksBetweenRequests: false })

/** `index.handler` behind a function URL, API Gateway (REST or HTTP API) or an Application Load Balancer. */
export async function handler(event: LambdaEvent): Promise<LambdaAnswer> {
  const { answer } = await started
  return encodeLambdaAnswer(event, await answer(decodeLambdaEvent(event)))
}
