/** The other end of `startTold`. What fails ends the process, and so the parent's question. */
export function listenToParent<Message>(answer: (message: Message) => Promise<unknown>): void {
  process.on('message', async (message: Message) => void process.send?.({ answer: await answer(message) }))
  process.once('disconnect', () => process.exit(0))
}
