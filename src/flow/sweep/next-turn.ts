/** What was just asked of others is sent, and whoever waits for this process has a turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
