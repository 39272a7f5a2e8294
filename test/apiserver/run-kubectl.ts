import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { ApiServer } from './start-api-server.ts'

// Deletions wait for what they delete.
const COMMAND_MS = 120_000

export async function runKubectl(
  { kubectl, kubeconfigPath, directory }: ApiServer,
  parameters: readonly string[],
  input = '',
): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(kubectl, parameters, {
    // Nothing of the caller's own kubectl: neither its kubeconfig nor its caches nor its plugins.
    env: { KUBECONFIG: kubeconfigPath, HOME: directory, KUBECACHEDIR: join(directory, 'kubectl-cache') },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: COMMAND_MS,
  })
  // It may end without having read its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject)),
  ])
  if (code !== 0) throw new Error(`kubectl ${parameters.join(' ')}: exit ${code ?? 'by signal'}: ${stderr}`)
  return { stdout, stderr }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: string[] = []
  for await (const chunk of stream) chunks.push(String(chunk))
  return chunks.join('')
}
