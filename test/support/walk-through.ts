import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const MARKER = '<!-- walk-through'
const PATIENCE_MS = 10_000

/** A command of the README's walk-through and what it prints there. */
export interface Step {
  command: string
  output: string
}

export function walkThroughSteps(): Step[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, text = ''] = /^```console\n(.*?)\n```$/ms.exec(readme.slice(readme.indexOf(MARKER))) ?? []
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.trimEnd().split('\n')
      return { command, output: output.join('\n') }
    })
}

/** Runs a command until it prints what the README says; what takes effect a moment later is looked at again. */
export async function followStep(
  { command, output }: Step,
  env: NodeJS.ProcessEnv,
): Promise<{ actual: string; expected: string }> {
  const isRead = /^kubectl get /.test(command)
  const deadline = Date.now() + PATIENCE_MS
  const expected = comparable(output)
  let actual: string
  do {
    actual = comparable(await run(command, env))
  } while (isRead && actual !== expected && Date.now() < deadline)
  return { actual, expected }
}

/** The README says `kubectl`; the binary that was found may have another place. */
export function pathWith(kubectl: string): string {
  const path = process.env['PATH'] ?? ''
  return kubectl.includes('/') ? `${dirname(kubectl)}:${path}` : path
}

function run(command: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', command], { cwd: ROOT, env }, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`))
  })
}

/** Ages and the width of columns differ from run to run; kubectl 1.33 and later name the namespace of what they delete. */
function comparable(output: string): string {
  return output
    .replace(/\b\d+(ms|s|m)\b/g, 'AGE')
    .replace(/ deleted from \w+ namespace$/gm, ' deleted')
    .replace(/[ \t]+/g, ' ')
    .replace(/ $/gm, '')
    .trim()
}
