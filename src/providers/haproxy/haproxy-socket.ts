import { connect } from 'node:net'

/** HAProxy could not be asked: it is down, or its socket is elsewhere, or may not be opened. Knows nothing, so it is a retry. */
export class HaproxyUnreachable extends Error {}

const ANSWER_WITHIN_MS = 5_000

/**
 * Sends one line of commands to a socket of HAProxy and answers all that comes until HAProxy closes. A payload may follow
 * the line; it ends with an empty line. What a command says of its failure is text like any other.
 */
export async function askHaproxy(path: string, command: string): Promise<string> {
  const answer = await tellHaproxy(path, command)
  // A command that has nothing to say is answered with an empty line.
  if (answer === '') throw unreachable(path, 'it ended without an answer')
  return answer
}

/** For a command after which HAProxy may end without a word. */
export function tellHaproxy(path: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path })
    const chunks: Buffer[] = []
    const fail = (reason: string) => {
      socket.destroy()
      reject(unreachable(path, reason))
    }
    socket.setTimeout(ANSWER_WITHIN_MS, () => fail(`no answer within ${ANSWER_WITHIN_MS} ms`))
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
    // Not ended: a master that is told to reload would hear the end as the same command once more.
    socket.write(`${command}\n`)
  })
}

function unreachable(path: string, reason: string): HaproxyUnreachable {
  return new HaproxyUnreachable(`HAProxy does not answer on ${path} (${reason}); is it running, in master-worker mode?`)
}
