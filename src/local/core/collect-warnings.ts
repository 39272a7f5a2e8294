import { StatusError } from './status-error.ts'

/** What a write warns of goes with its answer, a refusal included. */
export async function collectWarnings<T>(
  action: (warn: (text: string) => void) => Promise<T>,
): Promise<T & { warnings: string[] }> {
  const texts = new Set<string>()
  try {
    const result = await action((text) => texts.add(text))
    return { ...result, warnings: [...texts] }
  } catch (error) {
    if (error instanceof StatusError) error.warnings = [...texts]
    throw error
  }
}
