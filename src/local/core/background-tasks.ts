/**
 * What the controllers of a real control plane do after a write: one at a time, in the order they were asked for.
 * No timer is involved: `idle` resolves when nothing is left to do.
 */
export interface BackgroundTasks {
  add(task: () => Promise<void>): void
  idle(): Promise<void>
}

export function createBackgroundTasks(): BackgroundTasks {
  let last: Promise<void> = Promise.resolve()
  let open = 0

  return {
    add(task) {
      open += 1
      // A task that fails leaves things as they are, as a controller would; the next write asks for it again.
      last = last.then(task).then(finished, finished)
    },
    async idle() {
      while (open > 0) await last
    },
  }

  function finished(): void {
    open -= 1
  }
}
