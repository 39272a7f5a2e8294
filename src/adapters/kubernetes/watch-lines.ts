import { WatchError } from './watch-error.ts'

// Objects are at most 1.5 MiB in etcd, and JSON is not much longer.
const LONGEST_LINE = 16 * 1024 * 1024

/** The JSON documents of a stream, one a line. What follows the last line end was cut off, and is left out. */
export async function* watchLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.trim() !== '') yield parseLine(line)
    }
    if (rest.length > LONGEST_LINE) throw new WatchError('garbled', `a line is longer than ${LONGEST_LINE} characters`)
  }
}

/** The parser's own message would quote the line, which may be part of a Secret. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new WatchError('garbled', 'a line is not JSON')
  }
}
