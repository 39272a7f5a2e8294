import type { Dispatcher } from 'undici'
import type { Credentials } from './credentials.ts'
import { giveUpAfter } from './give-up-after.ts'

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With its query. */
  path: string
  /** Beside those of the credentials. */
  headers: Record<string, string>
  body?: string
}

export interface ApiResponse {
  statusCode: number
  headers: Dispatcher.ResponseData['headers']
  /** The whole body. */
  text: string
}

/**
 * One request and its whole answer, over a kept connection. Rejects when there is none: with the signal's reason, a
 * `TimeoutError`, or the fault of the connection. Handed to the dispatcher as it is: streams, signals and URLs in between
 * cost as much as the request.
 */
export function exchange(
  { origin, basePath, headers, dispatcher }: Credentials,
  request: ApiRequest,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let givenUp: Error | undefined
    const withdraw = giveUpAfter(timeoutMs, signal, (reason) => {
      givenUp = reason
      reject(reason)
      controller?.abort(reason)
    })
    if (signal?.aborted) return
    const chunks: Buffer[] = []
    let head: Omit<ApiResponse, 'text'> = { statusCode: 0, headers: {} }
    const { method, path, body = null } = request
    const sent = { ...headers, ...request.headers }
    dispatcher.dispatch(
      { origin, path: `${basePath}${path}`, method, headers: sent, body },
      {
        onRequestStart(started) {
          controller = started
          // It waited for a connection longer than anybody waited for it.
          if (givenUp !== undefined) started.abort(givenUp)
        },
        onResponseStart(_, statusCode, received) {
          head = { statusCode, headers: received }
        },
        onResponseData(_, chunk) {
          chunks.push(chunk)
        },
        onResponseEnd() {
          withdraw()
          resolve({ ...head, text: textOf(chunks) })
        },
        onResponseError(_, error) {
          withdraw()
          reject(error)
        },
      },
    )
  })
}

function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks
  return (chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)).toString()
}
