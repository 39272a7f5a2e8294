import t from 'tap'
import { checkAnswer, checkQueued } from '../../src/cli/check-answer.ts'
import { composedApp } from '../support/composed-app.ts'
import { asQueuedWork, loadFixtures } from '../support/fixtures.ts'
import { inject, openApp } from '../support/open-app.ts'
import { loadOpenApi } from '../support/openapi.ts'
import { stubDoors } from '../support/stub-doors.ts'

const fixtures = await loadFixtures()
const openapi = await loadOpenApi()
const composed = composedApp()
t.after(() => composed.app.close())

t.ok(fixtures.size > 150, 'the fixtures are found')

for (const [name, fixture] of fixtures) {
  const { request } = fixture

  t.test(`${name}: ${fixture.description}`, async (t) => {
    const doors = stubDoors()
    const { app, log } = openApp(doors)
    const answer = await inject(app, request)
    await app.close()
    t.strictSame(checkAnswer(fixture, answer), [], 'the answer')
    t.strictSame(checkQueued(fixture, asQueuedWork(doors.queued)), [], 'the queue')
    t.strictSame(openapi.check(request.method, request.path, answer), [], 'as openapi.yaml says')
    t.notOk(
      log.find(({ level }) => level === 'error'),
      'no fault of ours',
    )
  })

  // The world of the tests serves no document.
  if (name === 'operations/openapi.json') continue
  t.test(`${name}, by the function as it is composed`, async (t) => {
    composed.forget()
    const answer = await inject(composed.app, request)
    t.strictSame(checkAnswer(fixture, answer), [], 'the answer')
    t.strictSame(checkQueued(fixture, asQueuedWork(composed.queued)), [], 'the queue')
    t.strictSame(openapi.check(request.method, request.path, answer), [], 'as openapi.yaml says')
    t.strictSame(composed.errors(), [], 'no fault of ours')
  })
}
