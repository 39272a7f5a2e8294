import type { Stage } from './stage.ts'

/** The shortest history that fails, what is in it, every step of it, and how to see it again. */
export async function describeHistory(
  seed: number,
  violation: string,
  stage: Stage,
  without: string | undefined,
): Promise<string> {
  const shortest = await stage.shortest(seed, violation, without)
  return [
    `seed ${seed} fails: ${shortest.violation}`,
    `the shortest history found (${shortest.tried} tried) has ${shortest.entries.length} entries:`,
    `  world: ${JSON.stringify(shortest.setting)}`,
    ...shortest.entries.map((entry) => `  ${JSON.stringify(entry)}`),
    'step by step:',
    ...shortest.lines,
    `again: npm run simulate -- --world ${stage.controlPlane} --seed ${seed} --histories 1${without === undefined ? '' : ` --without "${without}"`}`,
  ].join('\n')
}
