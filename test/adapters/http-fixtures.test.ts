import t from 'tap'
import { checkAnswer, checkQueued } from '../../src/cli/check-answer.ts'
import { asQueuedWork, loadFixtures } from '../support/fixtures.ts'
import { openApp } from '../support/open-app.ts'
import { loadOpenApi } from '../support/openapi.ts'
import { stubDoors } from '../support/stub-doors.ts'

const fixtures = await loadFixtures()
const openapi = await loadOpenApi()

t.ok(fixtures.size > 150, 'the fixtures are found')

for (const [name, fixture] of fixtures) {
  t.test(`${name}: ${fixture.description}`, async (t) => {
    const doors = stubDoors()
    const { app, send, log } = openApp(doors)
    const answer = await send(fixture.request)
    await app.close()
    t.strictSame(checkAnswer(fixture, answer), [], 'the answer')
    t.strictSame(checkQueued(fixture, asQueuedWork(doors.queued)), [], 'the queue')
    t.strictSame(openapi.check(fixture.request.method, fixture.request.path, answer), [], 'as openapi.yaml says')
    t.strictSame(
      log.filter(({ level }) => level === 'error'),
      [],
      'no fault of ours',
    )
  })
}
