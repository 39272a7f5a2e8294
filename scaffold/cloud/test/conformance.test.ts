import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { examineProvider, formatReport } from 'webhook-cloud-provider/testing'
import { createAcmeApi } from '../src/acme-api.ts'
import { acmeCloud, NAME } from '../src/acme-provider.ts'
import { startStandInCloud } from './stand-in-cloud.ts'

const directory = mkdtempSync(join(tmpdir(), 'acme-'))
after(() => rmSync(directory, { recursive: true }))
const tokenFile = join(directory, 'token')
writeFileSync(tokenFile, 'token')
// The cloud that stands in is quick.
const LOOK_AGAIN_MS = 1

test('the provider keeps its contract', async () => {
  const { endpoint, close } = await startStandInCloud()
  try {
    // Level 2, too: overlaps, lost answers, others in the account.
    const report = await examineProvider({
      createProvider: () => ({
        name: NAME,
        cloudProvider: acmeCloud(createAcmeApi({ endpoint, tokenFile }), LOOK_AGAIN_MS),
      }),
      level: 2,
    })
    assert.ok(report.passed, `\n${formatReport(report)}`)
  } finally {
    close()
  }
})
