import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import { startStubApiServer } from '../../test/support/stub-api-server.ts'

/** An API server on which nothing exists. */
export interface StubCluster {
  kubeconfig: string
  /** Resolves with the next request. */
  asked(): Promise<void>
  close(): Promise<void>
}

export async function startStubCluster(): Promise<StubCluster> {
  const server = await startStubApiServer()
  let onRequest = () => {}
  server.answerEach(({ url }) => {
    onRequest()
    const message = `nothing at ${url}`
    const name = url.split('/').at(-1)
    return {
      status: 404,
      body: {
        apiVersion: 'v1',
        kind: 'Status',
        status: 'Failure',
        reason: 'NotFound',
        message,
        code: 404,
        details: { name },
      },
    }
  })
  const { url, caPem } = server
  return {
    kubeconfig: kubeconfigOf({ url, caPem, token: 'token', user: 'function' }),
    asked: () =>
      new Promise((resolve) => {
        onRequest = resolve
      }),
    close: () => server.close(),
  }
}
