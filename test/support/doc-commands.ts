import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The shell scripts of a document that follow a comment which begins with this word, in their order. */
export function scriptsOf(document: string, word: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8')
  const pattern = new RegExp(`<!-- ${word}\\b[^\\n]*-->\\n\`\`\`sh\\n(.*?)\\n\`\`\``, 'gs')
  return [...text.matchAll(pattern)].map(([, script = '']) => script)
}
