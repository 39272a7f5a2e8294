import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NODE_REQUIREMENTS } from './ccm-node-requirements.ts'

// Which test shows which requirement of the cloud controller manager. The reference and the cases were handed over beside
// this repository; where they are not, the table is checked against the tests only.

const SHARED = join(import.meta.dirname, '../../../shared')
const REFERENCE = join(SHARED, 'reference/cloud-controller-manager.md')
const CASES = join(SHARED, 'cases/ccm/cases.md')

/** Numbers of cases, or the beginning of a test's title. */
const REQUIREMENTS: Readonly<Record<string, readonly string[]>> = {
  'R-IF-1': ['C-56'],
  'R-IF-2': ['the providerID of an instance', 'R-IF-2'],
  'R-IF-3': ['C-27', 'C-28', 'C-103', 'R-IF-3'],
  'R-IF-4': ['C-28'],
  'R-IF-5': ['C-113'],
  'R-IF-6': ['C-79', 'R-NODE-4'],
  'R-PL-1': ['C-149'],
  'R-NM-1': ['which controllers run', 'C-148'],
  'R-SVC-1': ['C-07', 'C-08'],
  'R-SVC-2': ['C-03', 'C-09'],
  'R-SVC-3': ['C-07', 'C-133', 'C-139'],
  'R-SVC-4': ['C-32'],
  'R-SVC-5': ['C-03', 'C-04'],
  'R-SVC-6': ['C-17', 'C-29', 'without nodes the balancer is made'],
  'R-SVC-7': ['C-16', 'C-146', 'C-26'],
  'R-SVC-8': ['C-01', 'C-02', 'C-12', 'C-13'],
  'R-SVC-9': ['a Service in deletion that nobody holds is left alone'],
  'R-SVC-10': ['C-08', 'C-09'],
  'R-SVC-11': ['C-36'],
  'R-SVC-12': ['C-31'],
  'R-SVC-13': ['C-18', 'C-21', 'C-22'],
  'R-SVC-14': ['C-23'],
  'R-SVC-15': ['C-37', 'C-38'],
  'R-SVC-16': ['C-44'],
  'R-SVC-20': ['C-61', 'C-63', 'C-64'],
  'R-SVC-21': ['C-58', 'C-59'],
  'R-SVC-22': ['C-57', 'C-62', 'C-71'],
  'R-SVC-23': ['C-44'],
  'R-SVC-24': ['C-57', 'C-67', 'C-68', 'C-69'],
  'R-SVC-25': ['C-51', 'C-52', 'C-53'],
  'R-SVC-26': ['C-06', 'C-19'],
  'R-SVC-27': ['what is measured'],
  ...NODE_REQUIREMENTS,
}

/** Without a test of its own, and why. */
const UNTESTED: Readonly<Record<string, string>> = {
  'R-LIFE-7': 'says what upstream does not do',
}

/** The deliberate deviations of §4, in their order. */
const DEVIATIONS: readonly (readonly string[])[] = [
  ['a Service in deletion that nobody holds is left alone'],
  ['C-09'],
  ['C-18'],
  ['C-21'],
  ['C-51', 'C-52'],
  ['C-91', 'C-86'],
  ['C-103'],
  ['C-107'],
  ['C-116', 'C-129'],
  ['C-27'],
  ['C-33'],
  ['C-74'],
]

const OURS = /^ccm-.*\.test\.ts$/
const titles = readdirSync(import.meta.dirname)
  .filter((name) => OURS.test(name) && name !== 'ccm-requirements.test.ts')
  .flatMap((name) => titlesIn(readFileSync(join(import.meta.dirname, name), 'utf8')))

/** Of tests, and of scenarios in a list. */
function titlesIn(source: string): string[] {
  const calls = [...source.matchAll(/(?:t\.test|throughDoors)\(\s*(['"`])(.*?)\1/g)].map(([, , title = '']) => title)
  const listed = [...source.matchAll(/\b(?:cases|title): (['"`])(.*?)\1/g)].map(([, , title = '']) => title)
  return [...calls, ...listed]
}

function isShown(by: string): boolean {
  return titles.some((title) => (/^[A-Z-]+\d+$/.test(by) ? title.split(' ').includes(by) : title.startsWith(by)))
}

t.test('every row of the table names tests that are there', async (t) => {
  t.ok(titles.length > 100, `${titles.length} titles`)
  for (const [requirement, tests] of Object.entries(REQUIREMENTS)) {
    t.ok(tests.length > 0, requirement)
    for (const test of tests) t.ok(isShown(test), `${requirement}: ${test}`)
  }
  for (const [index, tests] of DEVIATIONS.entries()) {
    for (const test of tests) t.ok(isShown(test), `deviation ${index + 1}: ${test}`)
  }
})

t.test('every requirement has a row', { skip: !existsSync(REFERENCE) && 'the reference is not there' }, async (t) => {
  const text = readFileSync(REFERENCE, 'utf8')
  const stated = new Set(text.match(/^\* (R-[A-Z]+-\d+)/gm)?.map((line) => line.slice(2)))
  t.same(
    [...stated].filter((id) => REQUIREMENTS[id] === undefined && UNTESTED[id] === undefined),
    [],
  )
  t.same(
    [...Object.keys(REQUIREMENTS), ...Object.keys(UNTESTED)].filter((id) => !stated.has(id)),
    [],
  )
  const deviations = text.slice(text.indexOf('\n## 4.') + 6, text.indexOf('\n## 5.')).match(/(?<=[\s.])\d+(?=\. )/g)
  t.equal(DEVIATIONS.length, deviations?.length)
})

t.test('every case is a scenario', { skip: !existsSync(CASES) && 'the cases are not there' }, async (t) => {
  const cases =
    readFileSync(CASES, 'utf8')
      .match(/^\*\*(C-\d+)/gm)
      ?.map((line) => line.slice(2)) ?? []
  t.equal(cases.length, 120)
  t.same(
    cases.filter((id) => !isShown(id)),
    BY_CONTRACT,
  )
})

/** Shown by the contract suite of instances, which judges adapters. */
const BY_CONTRACT = ['C-108']
