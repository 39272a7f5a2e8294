// The `index.cjs` of each leaf. Runs the bundle beside it as `require` would, from the code that V8 compiled when it was
// bundled, and tells it, as `codeCache`, whether that was taken: another version of Node refuses it and compiles anew.
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Script } = require('node:vm')

const filename = join(__dirname, 'function.cjs')
const cache = join(__dirname, 'function.cache')
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
const script = new Script(readFileSync(filename, 'utf8'), { filename, cachedData })
const refused = script.cachedDataRejected ? 'rejected' : 'used'
const codeCache = cachedData === undefined ? 'absent' : refused
script.runInThisContext()(exports, require, module, filename, __dirname, codeCache)
