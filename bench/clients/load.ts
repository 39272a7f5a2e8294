// node load.ts OPTIONS: sends one review over and over on several connections, and prints what that took as JSON.
import { readFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { quantile } from '../statistics.ts'
import type { LoadOptions, LoadResult } from './load-options.ts'

const options: LoadOptions = JSON.parse(process.argv[2] ?? '')
const { port, path, requests, warmUp } = options
const body = readFileSync(options.bodyFile)
const ca = readFileSync(options.caFile)
const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
const request = Buffer.concat([Buffer.from(head), body])
const latencies = new Float64Array(requests)
let begun = 0
let measured = 0
let startedAt = 0

const sockets = await Promise.all(Array.from({ length: options.connections }, open))
await Promise.all(sockets.map(askAgainAndAgain))
const seconds = (performance.now() - startedAt) / 1_000
const sorted = [...latencies.sort()]
const result: LoadResult = { perSecond: requests / seconds, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
process.stdout.write(JSON.stringify(result))
for (const socket of sockets) socket.destroy()

function open(): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca })
    socket.setNoDelay(true)
    socket.once('secureConnect', () => resolve(socket)).once('error', reject)
  })
}

function askAgainAndAgain(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0
    let isCounted = false
    let left = 0
    const ask = () => {
      if (begun === warmUp + requests) return resolve()
      begun += 1
      if (begun === warmUp + 1) startedAt = performance.now()
      isCounted = begun > warmUp
      sentAt = performance.now()
      socket.write(request)
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed')))
    socket.on('data', (chunk) => {
      left = (left === 0 ? lengthOfAnswer(chunk) : left) - chunk.length
      if (left > 0) return
      if (isCounted) {
        latencies[measured] = (performance.now() - sentAt) * 1_000
        measured += 1
      }
      ask()
    })
    ask()
  })
}

/** Head and body of the answer that begins with this chunk. A head is short, and comes in one piece. */
function lengthOfAnswer(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n')
  const text = chunk.toString('latin1', 0, end)
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  if (end < 0 || length === undefined || !text.startsWith('HTTP/1.1 200')) {
    throw new Error(`no answer that counts: ${chunk.toString('latin1')}`)
  }
  return end + 4 + Number(length)
}
