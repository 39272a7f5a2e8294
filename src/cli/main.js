#!/usr/bin/env node
// The entry point is plain JavaScript, so that a Node too old for the rest can still be told from.
const OLDEST = { major: 22, minor: 19 }

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  process.stderr.write(
    `webhook-cloud-provider needs Node ${OLDEST.major}.${OLDEST.minor} or newer, this is ${process.versions.node}: in the repository use "npm run wcp --", elsewhere install a newer Node\n`,
  )
  process.exit(2)
}
const { runCli } = await import('./run-cli.ts')
process.exitCode = await runCli(process.argv.slice(2))
