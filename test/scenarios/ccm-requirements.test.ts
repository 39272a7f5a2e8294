import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NODE_REQUIREMENTS } from './ccm-node-requirements.ts'

// Which test shows which requirement of the cloud controller manager, and that each of the 120 cases is one. The reference
// and the cases were handed over beside this repository; where they are, the numbers here are compared with theirs.

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
  'R-IF-6': ['C-79', 'R-NODE-4', 'R-IF-6'],
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
  'R-SVC-13': ['C-18', 'C-21', 'C-22', 'R-SVC-13'],
  'R-SVC-14': ['C-23'],
  'R-SVC-15': ['C-37', 'C-38'],
  'R-SVC-16': ['C-44'],
  'R-SVC-20': ['C-61', 'C-63', 'C-64', 'R-SVC-20'],
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

/** How many requirements there are. */
const STATED = 63

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

/** C-01 to C-149; no number ends in 0 or 5. */
const CASE_NUMBERS = Array.from({ length: 149 }, (_, index) => index + 1)
  .filter((number) => number % 5 !== 0)
  .map((number) => `C-${String(number).padStart(2, '0')}`)

const OURS = /^ccm-.*\.test\.ts$/
const sources = [
  ...readdirSync(import.meta.dirname)
    .filter((name) => OURS.test(name) && name !== 'ccm-requirements.test.ts')
    .map((name) => join(import.meta.dirname, name)),
  // Judges adapters, as some cases do.
  join(import.meta.dirname, '../contracts/cloud-instances.test.ts'),
  // Judges what is pure, in tables.
  join(import.meta.dirname, '../domain/nodes.test.ts'),
].map((file) => readFileSync(file, 'utf8'))
const titles = sources.flatMap(titlesIn)

/** Of tests, and of scenarios in a list; not of what is written as a comment. */
function titlesIn(source: string): string[] {
  const calls = [...source.matchAll(/^ *(?:await )?(?:t\.test|throughDoors)\(\s*(['"`])(.*?)\1/gm)]
  const listed = [...source.matchAll(/^(?! *(?:\/\/|\*)).*\b(?:cases|title): (['"`])(.*?)\1/gm)]
  return [...calls, ...listed].map(([, , title = '']) => title)
}

function isShown(by: string): boolean {
  return titles.some((title) => (/^[A-Z-]+\d+$/.test(by) ? title.split(' ').includes(by) : title.startsWith(by)))
}

t.test('every case is a scenario, and none is left out', async (t) => {
  t.equal(CASE_NUMBERS.length, 120)
  t.same(
    CASE_NUMBERS.filter((id) => !isShown(id)),
    [],
  )
  t.notMatch(sources.join('\n'), /\b(?:skip|todo|only)\b\s*[:(]/)
})

t.test('a case without a test is missed', async (t) => {
  t.notOk(isShown('C-150'))
  t.same(titlesIn("// t.test('C-01 a', f)\n  t.test('C-02 b', f)\n  // cases: 'C-03'\n  { cases: 'C-04' }"), [
    'C-02 b',
    'C-04',
  ])
})

t.test('every row of the table names tests that are there', async (t) => {
  t.ok(titles.length > 100, `${titles.length} titles`)
  t.equal(Object.keys({ ...REQUIREMENTS, ...UNTESTED }).length, STATED)
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

t.test('the cases are those', { skip: !existsSync(CASES) && 'the cases are not there' }, async (t) => {
  const cases =
    readFileSync(CASES, 'utf8')
      .match(/^\*\*(C-\d+)/gm)
      ?.map((line) => line.slice(2)) ?? []
  t.same(cases, CASE_NUMBERS)
})
