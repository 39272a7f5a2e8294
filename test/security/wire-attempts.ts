import type { ConnectionOptions } from 'node:tls'
import { type Attempt, message, request, type Sent } from './attempt.ts'
import type { Bench } from './bench.ts'

// What is no proper request, or a proper one in disguise. None of them shows a credential, unless said.

const line = (bench: Bench, target: string, more: Partial<Sent> = {}) =>
  bench.raw(message({ path: target.replaceAll('PREFIX', bench.prefix), body: '{}', ...more }))

/** `PREFIX` and `TOKEN` are filled in, lines end as HTTP wants it. */
const verbatim = (bench: Bench, text: string, options?: ConnectionOptions) =>
  bench.raw(
    text
      .trimStart()
      .replaceAll('\n', '\r\n')
      .replaceAll('PREFIX', bench.prefix)
      .replaceAll('TOKEN', bench.tokens.admission),
    options,
  )

/** Announces a body, and does not send it. */
const expecting = (bench: Bench, path: string, length: number, instead: string | Buffer = '', token?: string) => {
  const headers = { expect: '100-continue', connection: 'keep-alive', 'content-length': String(length) }
  const announced = request(bench, { path, headers, ...(token === undefined ? {} : { token }) })
  return bench.raw([announced, instead])
}

const HIDDEN = 'POST PREFIX/sweep HTTP/1.1\nhost: x\ncontent-length: 0\n\n'

/** Paths to a door that leave out the proof, or go round the prefix. */
const PATHS: readonly { name: string; target: string; answers: number[] }[] = [
  { name: 'a doubled slash', target: 'PREFIX//admission/notify', answers: [404] },
  { name: 'a doubled slash before the prefix', target: '/PREFIX/admission/notify', answers: [404] },
  { name: 'an encoded letter', target: 'PREFIX/%61dmission/notify', answers: [401] },
  { name: 'an encoded slash', target: 'PREFIX/admission%2fnotify', answers: [404] },
  { name: 'encoded dots', target: 'PREFIX/%2e%2e/sweep', answers: [404] },
  { name: 'dots', target: 'PREFIX/admission/../sweep', answers: [404] },
  { name: 'dots from a probe to a door', target: '/healthz/..PREFIX/sweep', answers: [404] },
  { name: 'capital letters', target: 'PREFIX/ADMISSION/NOTIFY', answers: [404] },
  { name: 'a slash at the end', target: 'PREFIX/sweep/', answers: [404] },
  { name: 'a parameter in the path', target: 'PREFIX/sweep;x=1', answers: [404] },
  { name: 'a fragment', target: 'PREFIX/sweep#/healthz', answers: [401] },
  { name: 'a NUL', target: 'PREFIX/sweep%00', answers: [404] },
  { name: 'a broken escape', target: 'PREFIX/sweep%zz', answers: [400] },
  { name: 'a backslash', target: 'PREFIX\\sweep', answers: [404] },
  { name: 'a whole URL', target: 'https://function.example.com' + 'PREFIX/sweep', answers: [404] },
  { name: 'the prefix in the query of a probe', target: '/healthz?PREFIX/sweep', answers: [405] },
  { name: 'metrics behind the prefix', target: 'PREFIX/metrics', answers: [404] },
  { name: 'no path', target: '*', answers: [404] },
]

export const WIRE_ATTEMPTS: readonly Attempt[] = [
  ...PATHS.map(({ name, target, answers }) => ({
    name: `path: ${name}`,
    answers,
    send: (bench: Bench) => line(bench, target),
  })),
  {
    name: 'path: the prefix in capital letters',
    answers: [404],
    send: (bench) => line(bench, `${bench.prefix.toUpperCase()}/sweep`, { token: bench.tokens.sweep }),
  },
  {
    name: 'path: one letter short of the prefix',
    answers: [404],
    send: (bench) => line(bench, `${bench.prefix.slice(0, -1)}/sweep`, { token: bench.tokens.sweep }),
  },
  {
    name: 'another method by header',
    answers: [405],
    send: (bench) =>
      line(bench, '/healthz', {
        headers: { 'x-http-method-override': 'DELETE', 'x-original-url': `${bench.prefix}/sweep` },
      }),
  },
  { name: 'GET at a door', answers: [405], send: (bench) => line(bench, 'PREFIX/sweep', { method: 'GET' }) },
  { name: 'TRACE', answers: [405], send: (bench) => line(bench, 'PREFIX/sweep', { method: 'TRACE', body: '' }) },
  {
    name: 'CONNECT',
    answers: [],
    send: (bench) => verbatim(bench, 'CONNECT 169.254.169.254:80 HTTP/1.1\nhost: x\n\n'),
  },
  {
    name: 'smuggling: length and chunks',
    answers: [400],
    send: (bench) =>
      verbatim(
        bench,
        `POST PREFIX/sweep HTTP/1.1\nhost: x\ncontent-length: 6\ntransfer-encoding: chunked\n\n0\n\n${HIDDEN}`,
      ),
  },
  {
    name: 'smuggling: two lengths',
    answers: [400],
    send: (bench) =>
      verbatim(bench, `POST PREFIX/sweep HTTP/1.1\nhost: x\ncontent-length: 0\ncontent-length: 60\n\n${HIDDEN}`),
  },
  {
    name: 'smuggling: a list of lengths',
    answers: [400],
    send: (bench) => verbatim(bench, `POST PREFIX/sweep HTTP/1.1\nhost: x\ncontent-length: 0, 60\n\n${HIDDEN}`),
  },
  {
    name: 'smuggling: an unknown transfer coding',
    answers: [400],
    send: (bench) => verbatim(bench, `POST PREFIX/sweep HTTP/1.1\nhost: x\ntransfer-encoding: xchunked\n\n${HIDDEN}`),
  },
  {
    name: 'smuggling: a space before the colon',
    answers: [400],
    send: (bench) =>
      verbatim(bench, `POST PREFIX/sweep HTTP/1.1\nhost: x\ntransfer-encoding : chunked\n\n0\n\n${HIDDEN}`),
  },
  {
    name: 'smuggling: a folded header',
    answers: [400],
    send: (bench) =>
      verbatim(bench, 'POST PREFIX/sweep HTTP/1.1\nhost: x\nauthorization:\n Bearer TOKEN\nx: y\n : z\n\n'),
  },
  {
    name: 'smuggling: a bare line feed',
    answers: [400],
    send: (bench) =>
      bench.raw(`POST ${bench.prefix}/sweep HTTP/1.1\nhost: x\nauthorization: Bearer ${bench.tokens.sweep}\n\n`),
  },
  {
    name: 'smuggling: a chunk size that wraps around',
    answers: [400],
    send: (bench) =>
      verbatim(
        bench,
        'POST PREFIX/admission/notify HTTP/1.1\nhost: x\ncontent-type: application/json\nauthorization: Bearer TOKEN\ntransfer-encoding: chunked\n\nffffffffffffffffff\nx\n0\n\n',
      ),
  },
  {
    name: 'smuggling: a request in the body of a refused one',
    answers: [401],
    send: (bench) => {
      const hidden = HIDDEN.replace('PREFIX', bench.prefix).replaceAll('\n', '\r\n')
      return bench.raw(request(bench, { path: '/sweep', body: hidden, headers: { connection: 'keep-alive' } }))
    },
  },
  {
    name: 'a stranger who asks whether to send the body',
    answers: [401],
    send: (bench) => expecting(bench, '/admission/notify', 3_000_000),
  },
  {
    name: 'smuggling: a request where the body was announced',
    answers: [401],
    send: (bench) => expecting(bench, '/sweep', 10, request(bench, { path: '/sweep', token: bench.tokens.sweep })),
  },
  {
    name: 'a body too large, announced with a stolen token',
    answers: [413],
    send: (bench) => expecting(bench, '/events', 99_999_999, '', bench.tokens.events),
  },
  {
    name: 'smuggling: a NUL in a header',
    answers: [400],
    send: (bench) => verbatim(bench, 'POST PREFIX/sweep HTTP/1.1\nhost: x\nauthorization: Bearer \0TOKEN\n\n'),
  },
  {
    name: 'two hosts',
    answers: [401],
    send: (bench) =>
      verbatim(bench, 'POST PREFIX/sweep HTTP/1.1\nhost: a\nhost: b\ncontent-length: 0\nconnection: close\n\n'),
  },
  {
    name: 'no host',
    answers: [400],
    send: (bench) => verbatim(bench, 'POST PREFIX/sweep HTTP/1.1\ncontent-length: 0\nconnection: close\n\n'),
  },
  {
    name: 'the host of the cloud’s metadata',
    answers: [401],
    send: (bench) =>
      line(bench, 'PREFIX/sweep', {
        headers: { host: '169.254.169.254', 'x-forwarded-host': 'kubernetes.default.svc' },
      }),
  },
  {
    name: 'a huge header',
    answers: [431],
    send: (bench) => line(bench, 'PREFIX/sweep', { headers: { cookie: 'x'.repeat(100_000) } }),
  },
  {
    name: 'ten thousand headers',
    answers: [431],
    send: (bench) =>
      line(bench, 'PREFIX/sweep', {
        headers: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, 'y'])),
      }),
  },
  {
    name: 'a token of a megabyte',
    answers: [431],
    send: (bench) => line(bench, 'PREFIX/sweep', { token: 'x'.repeat(1_000_000) }),
  },
  {
    name: 'HTTP/2 by prior knowledge',
    answers: [400],
    send: (bench) => verbatim(bench, 'PRI * HTTP/2.0\n\nSM\n\n'),
  },
  {
    name: 'HTTP/2 by negotiation',
    answers: [],
    send: (bench) => verbatim(bench, 'PRI * HTTP/2.0\n\nSM\n\n', { ALPNProtocols: ['h2'] }),
  },
  {
    name: 'an upgrade to HTTP/2',
    answers: [401],
    send: (bench) =>
      line(bench, 'PREFIX/sweep', {
        headers: { connection: 'Upgrade, HTTP2-Settings, close', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' },
      }),
  },
  {
    name: 'an upgrade to a web socket',
    answers: [401],
    send: (bench) => line(bench, 'PREFIX/sweep', { headers: { connection: 'Upgrade, close', upgrade: 'websocket' } }),
  },
  { name: 'HTTP/0.9', answers: [405], send: (bench) => verbatim(bench, 'GET PREFIX/sweep\n\n') },
  {
    name: 'TLS 1.1',
    answers: [],
    send: (bench) =>
      verbatim(bench, 'GET /healthz HTTP/1.1\nhost: x\n\n', {
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      }),
  },
]

/** Those that take their time. */
export const SLOW_ATTEMPTS: readonly Attempt[] = [
  {
    name: 'slow headers',
    answers: [408],
    send: (bench) => verbatim(bench, 'POST PREFIX/sweep HTTP/1.1\nhost: x\nx-slow: '),
  },
  {
    name: 'a slow body, with a stolen token',
    answers: [408],
    send: (bench) =>
      verbatim(
        bench,
        'POST PREFIX/admission/notify HTTP/1.1\nhost: x\ncontent-type: application/json\nauthorization: Bearer TOKEN\ncontent-length: 1000\n\n{',
      ),
  },
  {
    name: 'a slow body by a stranger',
    answers: [401],
    send: (bench) =>
      verbatim(
        bench,
        'POST PREFIX/admission/notify HTTP/1.1\nhost: x\ncontent-type: application/json\ncontent-length: 70000\n\n{',
      ),
  },
  { name: 'a connection that says nothing', answers: [408], send: (bench) => bench.raw([]) },
]
