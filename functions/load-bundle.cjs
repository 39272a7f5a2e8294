// The `index.cjs` of each leaf. Runs the parts of the bundle beside it as `require` would, each when it is first asked for,
// from the code that V8 compiled when they were bundled. Another version of Node refuses that code and compiles anew: what
// became of each part is told to the bundle as `codeCache`.
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Script } = require('node:vm')

// All that TLS needs is the largest part of what Node loads, and a function behind an ingress needs nothing of it.
const LATE = ['node:crypto', 'node:https', 'node:tls']

/** @type {Map<string, any>} */
const parts = new Map()
/** @type {{ part: string, state: string }[]} */
const codeCache = []
/** @type {(part: any) => void} */
let tell = () => {}

/** @param {string} name @returns {any} */
function load(name) {
  const known = parts.get(name)
  if (known !== undefined) return known.exports
  const filename = join(__dirname, name)
  const cache = `${filename.slice(0, -'.cjs'.length)}.cache`
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
  // All that is not ASCII is escaped.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData })
  const part = { exports: name === 'function.cjs' ? exports : {}, script }
  parts.set(name, part)
  const refused = script.cachedDataRejected ? 'rejected' : 'used'
  const told = { part: name, state: cachedData === undefined ? 'absent' : refused }
  codeCache.push(told)
  tell(told)
  const requirePart = (/** @type {string} */ id) => {
    if (id.startsWith('./')) return load(id.slice(2))
    return LATE.includes(id) ? late(id) : require(id)
  }
  script.runInThisContext()(part.exports, requirePart, part, filename, __dirname, follow)
  return part.exports
}

/** As the module, which is loaded when something of it is asked for. @param {string} id */
function late(id) {
  return new Proxy({}, { get: (_, name) => (name === '__esModule' ? undefined : require(id)[name]) })
}

/** Tells of every part, those that come later included. @param {(part: any) => void} listener */
function follow(listener) {
  tell = listener
  codeCache.forEach(listener)
}

Object.assign(module, { parts })
module.exports = load('function.cjs')
