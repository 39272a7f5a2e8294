/** Names the calls of a history: which call, and the how-manyth. Stays the same when other calls fall away. */
export function createCallCounter(): (label: string) => string {
  const counts = new Map<string, number>()
  return (label) => {
    const count = (counts.get(label) ?? 0) + 1
    counts.set(label, count)
    return `${label} #${count}`
  }
}
