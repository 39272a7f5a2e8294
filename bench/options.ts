import { parseArgs } from 'node:util'
import { FIGURES } from './figures.ts'

export interface Options {
  only: string[]
  check: boolean
  quick: boolean
  rounds: number | undefined
  out: string | undefined
  profile: string | undefined
}

export const USAGE = `npm run bench -- [options]

  --only FIGURE       this figure alone; may be repeated. One of: ${FIGURES.map(({ name }) => name).join(', ')}
  --check             exit 1 when a figure is beyond its bound
  --quick             fewer rounds, and not the figures that take long
  --rounds N          so many rounds at first; undecided figures take more
  --out FILE          the results as JSON; bench/results.json unless given
  --profile FIGURE    writes profiles instead of measuring
`

/** Throws what is wrong with them, as a text. */
export function parseOptions(parameters: string[]): Options {
  const { values } = parseArgs({
    args: parameters,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      check: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      out: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const known = new Set(FIGURES.map(({ name }) => name))
  for (const name of [...values.only, values.profile ?? []].flat()) {
    if (!known.has(name)) throw new TypeError(`no figure "${name}"; there are: ${[...known].join(', ')}`)
  }
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
    throw new TypeError(`--rounds ${values.rounds}: must be a whole number above 0`)
  }
  const { only, check, quick, out, profile } = values
  return { only, check, quick, rounds, out, profile }
}
