/** The provider does not keep its contract; the message says in which point. */
export class ConformanceFault extends Error {
  override readonly name = 'ConformanceFault'
}

export function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new ConformanceFault(otherwise)
}
