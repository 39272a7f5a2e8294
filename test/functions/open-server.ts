import { createFunctionClient } from '../../src/cli/function-client.ts'
import { freePort } from '../support/free-port.ts'
import type { OpenLeaf } from './leaf.ts'
import { type LeafCommand, type LeafProcess, startLeafProcess } from './leaf-process.ts'

export interface OpenServer extends OpenLeaf {
  process: LeafProcess
}

const STARTS = 3

/** A leaf that listens: started on a free port, and ready when it answers at all. Somebody may take the port meanwhile. */
export async function openServer(...given: Parameters<typeof openOnce>): Promise<OpenServer> {
  for (let start = 1; ; start += 1) {
    try {
      return await openOnce(...given)
    } catch (error) {
      if (start === STARTS || !String(error).includes('EADDRINUSE')) throw error
    }
  }
}

async function openOnce(
  command: (port: string) => LeafCommand,
  { scheme, ca }: { scheme: 'http' | 'https'; ca?: string } = { scheme: 'http' },
): Promise<OpenServer> {
  const port = String(await freePort())
  const process = startLeafProcess(command(port))
  const client = createFunctionClient({ url: `${scheme}://127.0.0.1:${port}`, ca, tokenFile: undefined })
  const answers = () =>
    client.send({ method: 'GET', path: '/' }).then(
      () => true,
      () => false,
    )
  let over = false
  process.failed.catch(() => {
    over = true
  })
  const ready = async () => {
    while (!over && !(await answers())) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  try {
    await Promise.race([ready(), process.failed])
  } catch (error) {
    await client.close()
    throw error
  }
  return {
    process,
    send({ body, ...request }) {
      const hasBody = request.method !== 'GET' && request.method !== 'OPTIONS'
      return untilHeard(() => client.send(hasBody ? { ...request, body } : request))
    },
    async close() {
      await client.close()
      return process.stop()
    },
  }
}

const TRIES = 20

/**
 * What refuses a large body does so before it has read it, and closes the connection: the answer may be lost to a client
 * that is still sending. It is asked again.
 */
async function untilHeard<T>(send: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send()
    } catch (error) {
      if (tries === TRIES || !/\((EPIPE|ECONNRESET)\)/.test(String(error))) throw error
    }
  }
}
