import { processConsole } from '../../src/cli/process-console.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { codeCacheOfBundle } from '../code-cache-of-bundle.ts'
import { giveUp } from '../give-up.ts'

/** The whole command line, which is what the container image runs: `serve` as the function, `sweep` and `watch` beside it. */
runCli(process.argv.slice(2), processConsole(codeCacheOfBundle())).then((code) => {
  process.exitCode = code
}, giveUp)
