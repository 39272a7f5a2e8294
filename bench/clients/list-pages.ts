// node list-pages.ts: for each message, reads all pages of the collections that it names, by undici alone.
import { Agent, request } from 'undici'
import { listenToParent } from '../support/listen-to-parent.ts'
import type { ListPagesOptions, ListPagesResult } from './list-options.ts'

listenToParent(listAll)

let dispatcher: Agent | undefined

async function listAll({ url, caPem, token, paths, limit }: ListPagesOptions): Promise<ListPagesResult> {
  dispatcher ??= new Agent({ connect: { ca: caPem } })
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
  const used = process.cpuUsage()
  const started = performance.now()
  let items = 0
  for (const path of paths) {
    let token: string | undefined = ''
    while (token !== undefined) {
      const query: string = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
      const { body, statusCode } = await request(`${url}${path}?limit=${limit}${query}`, { dispatcher, headers })
      const page = JSON.parse(await body.text())
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${page.message}`)
      items += page.items.length
      token = page.metadata.continue || undefined
    }
  }
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(used)
  return { ms, cpuMs: (user + system) / 1_000, items }
}
