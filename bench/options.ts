import { parseArgs } from 'node:util'
import { FIGURES } from './figures.ts'

export interface Options {
  only: string[]
  check: boolean
  quick: boolean
  peers: boolean
  rounds: number | undefined
  out: string | undefined
  markdown: string | undefined
  profile: string[]
}

const NAMES = FIGURES.map(({ name }) => name)

export const USAGE = `npm run bench -- [options]

  --only FIGURE       this figure alone; may be repeated. One of: ${NAMES.join(', ')}
  --peers             with Pepr and Express besides; installs them once, outside of this folder
  --check             exit 1 when a figure failed or is beyond its bound
  --quick             fewer rounds, and not the figures that take long. With --check what a clock on the wall tells
                      fails only where all of its interval is far beyond the bound
  --rounds N          so many rounds at first; undecided figures take more while there is time
  --out FILE          the results as JSON, written as they come; bench/results.json unless given
  --markdown FILE     puts the ratios as a table between <!-- results --> and <!-- /results --> in FILE
  --profile FIGURE    writes profiles to bench/profiles instead of measuring, and tells what is largest in them; may be
                      repeated
`

/** Throws what is wrong with them, as a text. */
export function parseOptions(parameters: string[]): Options {
  const { values } = parseArgs({
    args: parameters,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      check: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      out: { type: 'string' },
      markdown: { type: 'string' },
      profile: { type: 'string', multiple: true, default: [] },
    },
  })
  for (const name of [...values.only, ...values.profile]) {
    if (!NAMES.includes(name)) throw new TypeError(`no figure "${name}"; there are: ${NAMES.join(', ')}`)
  }
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
    throw new TypeError(`--rounds ${values.rounds}: must be a whole number above 0`)
  }
  const { only, check, quick, peers, out, markdown, profile } = values
  return { only, check, quick, peers, rounds, out, markdown, profile }
}
