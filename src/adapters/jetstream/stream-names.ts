/** What it is called on the server; whoever shares these names shares the work. */
export interface StreamNames {
  workStream: string
  workSubjects: string
  deadStream: string
  deadSubjects: string
}

/** A stream's name and a token of a subject take no dots. */
export function streamNames(name: string): StreamNames {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  return {
    workStream: `${plain}-work`,
    workSubjects: `${plain}.work`,
    deadStream: `${plain}-dead`,
    deadSubjects: `${plain}.dead`,
  }
}
