// node lambda-loop.ts FILE: the least that a runtime of AWS Lambda does, for machines where aws-lambda-ric is not built.
import { createRequire } from 'node:module'

const [file = ''] = process.argv.slice(2)
const runtime = `http://${process.env['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation`
const { handler } = createRequire(import.meta.url)(file) as { handler(event: unknown): Promise<unknown> }

for (;;) {
  const next = await fetch(`${runtime}/next`)
  const id = next.headers.get('lambda-runtime-aws-request-id')
  const post = (outcome: string, body: unknown) =>
    fetch(`${runtime}/${id}/${outcome}`, { method: 'POST', body: JSON.stringify(body) })
  try {
    await post('response', await handler(await next.json()))
  } catch (error) {
    await post('error', { errorType: 'Error', errorMessage: String(error) })
  }
}
