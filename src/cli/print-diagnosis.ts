import type { Diagnosis } from '../domain/doctor/diagnose.ts'

const WIDTH = 18

/** One line a check; under it what is wrong, and what to do. */
export function printDiagnosis({ state, checks }: Diagnosis): string {
  const lines = checks.flatMap(({ name, state, summary, problems }) => [
    `${state.padEnd(7)} ${name.padEnd(WIDTH)}${summary}`,
    ...problems.flatMap((problem) => [`        ${problem.state}: ${problem.message}`, `        → ${problem.remedy}`]),
  ])
  const count = (wanted: string) => checks.filter((check) => check.state === wanted).length
  return [...lines, '', `${state}: ${count('green')} green, ${count('yellow')} yellow, ${count('red')} red`].join('\n')
}
