import { spawnSync } from 'node:child_process'

const PROGRAMS = [
  { program: 'caddy', parameters: ['version'] },
  { program: 'haproxy', parameters: ['-v'] },
  { program: 'ip', parameters: ['-Version'] },
]
const PACKAGES = 'caddy haproxy iproute2'

/** What is not installed, and how to get it; undefined when everything is there. */
export function missingPrograms(): string | undefined {
  const missing = PROGRAMS.filter(({ program, parameters }) => spawnSync(program, parameters).error !== undefined)
  if (missing.length === 0) return undefined
  const names = missing.map(({ program }) => program).join(', ')
  return `not on the PATH: ${names}. On Debian: apt-get install -y --no-install-recommends ${PACKAGES}`
}
