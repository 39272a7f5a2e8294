import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { CannotMeasure } from '../figure.ts'

/** What we are measured beside; these versions, so that figures can be compared from run to run. */
const PEERS = { express: '5.3.0', pepr: '1.1.4' } as const

/** The folder whose `node_modules` has them: in the user's cache, filled once by npm. */
export async function providePeers(log: (line: string) => void): Promise<string> {
  const versions = Object.entries(PEERS).map(([name, version]) => `${name}-${version}`)
  const folder = join(cacheHome(), 'webhook-cloud-provider', 'peers', versions.join('-'))
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  // Renamed when it is whole: a run that was killed leaves no half of it.
  const temporary = mkdtempSync(join(dirname(folder), '.installing-'))
  log(`installing ${versions.join(', ')} into ${folder}: once`)
  try {
    writeFileSync(join(temporary, 'package.json'), JSON.stringify({ private: true, dependencies: PEERS }))
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--omit=dev']
    await promisify(execFile)('npm', ['install', ...flags], { cwd: temporary })
    renameSync(temporary, folder)
  } catch (error) {
    if (existsSync(folder)) return folder
    throw new CannotMeasure(`npm could not install ${versions.join(', ')}`, { cause: error })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  return folder
}

/** As the XDG specification has it: relative paths are ignored. */
function cacheHome(): string {
  const { XDG_CACHE_HOME = '', HOME = homedir() } = process.env
  return isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME, '.cache')
}
