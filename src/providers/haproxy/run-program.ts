import { spawn } from 'node:child_process'

export interface ProgramResult {
  /** Undefined where it was ended by a signal. */
  code: number | undefined
  /** Of both streams, cut. */
  output: string
}

const OUTPUT_LIMIT = 16_384

/** Runs a program, without a shell, to its end or for `timeoutMs`. Rejects only where it could not be started. */
export function runProgram(program: string, args: readonly string[], timeoutMs: number): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs, killSignal: 'SIGKILL' })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_LIMIT)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', (error) =>
      reject(new Error(`${program} could not be started: ${error.message}`, { cause: error })),
    )
    child.on('close', (code) => resolve({ code: code ?? undefined, output }))
  })
}
