import { execFileSync } from 'node:child_process'

/** A kubectl to test with: `KUBECTL`, else the one on the PATH; undefined when there is none. */
export function findKubectl(): string | undefined {
  const candidate = process.env['KUBECTL'] ?? 'kubectl'
  try {
    execFileSync(candidate, ['version', '--client'], { stdio: 'ignore' })
    return candidate
  } catch {
    return undefined
  }
}
