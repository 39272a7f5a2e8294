// node replay-requests.ts: makes recorded requests again, by undici alone, against objects of the same names.
import { Agent, request } from 'undici'
import { listenToParent } from '../support/listen-to-parent.ts'
import { objectsIn, type RecordedRequest, type ReplayOptions, type ReplayResult } from './recorded-request.ts'

listenToParent(replay)

async function replay({ url, caPem, token, sequences, concurrency }: ReplayOptions): Promise<ReplayResult> {
  const dispatcher = new Agent({ connect: { ca: caPem } })
  const authorization = `Bearer ${token}`
  const differences: string[] = []
  const used = process.cpuUsage()
  const started = performance.now()
  const rest = sequences.values()
  const worker = async () => {
    for (const sequence of rest) {
      // What was called so then is called so now.
      const names = new Map<string, string>()
      for (const recorded of sequence) {
        const { method, path, contentType, body } = recorded
        const answer = await request(`${url}${path}`, {
          dispatcher,
          method: method as 'GET',
          headers: { authorization, accept: 'application/json', ...(contentType && { 'content-type': contentType }) },
          body: body === undefined ? null : renamed(body, names),
        })
        const text = await answer.body.text()
        if (answer.statusCode !== recorded.status) differences.push(`${method} ${path}: ${answer.statusCode} ${text}`)
        learn(names, recorded, text)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(used)
  await dispatcher.close()
  return { ms, cpuMs: (user + system) / 1_000, differences }
}

/** uids and resourceVersions are quoted texts in every body that has them. */
function renamed(body: string, names: ReadonlyMap<string, string>): string {
  return body.replace(/"[0-9a-f-]+"/g, (text) => names.get(text) ?? text)
}

function learn(names: Map<string, string>, { seen }: RecordedRequest, text: string): void {
  const now = new Map(objectsIn(text).map((object) => [object.object, object]))
  for (const { object, uid, resourceVersion } of seen) {
    const { uid: newUid = uid, resourceVersion: newVersion = resourceVersion } = now.get(object) ?? {}
    names.set(`"${uid}"`, `"${newUid}"`)
    names.set(`"${resourceVersion}"`, `"${newVersion}"`)
  }
}
