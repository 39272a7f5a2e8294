/**
 * Calls back once, with the reason: at once when the signal has aborted, else when it does or when the time is up. The
 * returned function ends the wait. A timer and a listener: `AbortSignal.any` and `.timeout` cost ten times as much.
 */
export function giveUpAfter(ms: number, signal: AbortSignal | undefined, giveUp: (reason: Error) => void): () => void {
  const withdraw = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
  const end = (reason: Error) => {
    withdraw()
    giveUp(reason)
  }
  const abort = () => end(signal?.reason)
  const timer = setTimeout(() => end(new DOMException('the time is up', 'TimeoutError')), ms)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  return withdraw
}
