/** Who reads along (`| head`, a log collector) may go before us; the work, and the cleaning up, go on. */
export function ignoreClosedPipe(streams: readonly NodeJS.WritableStream[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}
