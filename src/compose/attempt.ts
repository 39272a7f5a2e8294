import { isCatalogueError } from '../domain/catalogue-error.ts'

export interface Attempt {
  done: boolean
  message: string
}

/** One object that cannot be let go of must not keep the others. */
export async function attempt(act: () => Promise<Attempt>): Promise<Attempt> {
  try {
    return await act()
  } catch (error) {
    if (!isCatalogueError(error)) throw error
    return { done: false, message: `stays: ${error.message}` }
  }
}
