import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface CallFrame {
  functionName: string
  url: string
}

interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame }[]
  samples: number[]
  timeDeltas: number[]
}

interface HeapNode {
  callFrame: CallFrame
  selfSize: number
  children: HeapNode[]
}

interface Cost {
  frame: CallFrame
  cost: number
}

const SHOWN = 12
/** Where nothing runs. */
const NOT_WORK = new Set(['(idle)', '(root)'])

/** What is largest in the profiles of a folder: CPU time of each function's own, and what each allocated that lives. */
export function summariseProfiles(folder: string): string {
  const files = readdirSync(folder).toSorted()
  return files.flatMap((file) => summary(file, readFileSync(join(folder, file), 'utf8'))).join('\n')
}

function summary(file: string, text: string): string[] {
  if (file.endsWith('.cpuprofile')) return largest(file, cpuCosts(JSON.parse(text)), 'ms', 1_000)
  if (file.endsWith('.heapprofile')) return largest(file, heapCosts(JSON.parse(text).head), 'KB', 1_024)
  return []
}

function cpuCosts({ nodes, samples, timeDeltas }: CpuProfile): Cost[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  return samples.flatMap((id, index) => {
    const frame = frames.get(id)
    return frame === undefined ? [] : { frame, cost: Math.max(0, timeDeltas[index] ?? 0) }
  })
}

function heapCosts({ callFrame, selfSize, children }: HeapNode): Cost[] {
  return [{ frame: callFrame, cost: selfSize }, ...children.flatMap(heapCosts)]
}

function largest(file: string, costs: readonly Cost[], unit: string, divisor: number): string[] {
  const sums = new Map<string, number>()
  for (const { frame, cost } of costs) {
    if (NOT_WORK.has(frame.functionName)) continue
    const name = `${frame.functionName || '(anonymous)'} ${placeOf(frame.url)}`
    sums.set(name, (sums.get(name) ?? 0) + cost)
  }
  const total = [...sums.values()].reduce((sum, cost) => sum + cost, 0)
  const lines = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN)
  const percent = (cost: number) => `${((cost / total) * 100).toFixed(1)} %`.padStart(8)
  return [
    `${file}: ${(total / divisor).toFixed(0)} ${unit}`,
    ...lines.map(([name, cost]) => `${percent(cost)}  ${name.trim()}`),
  ]
}

/** The package, or the end of the path. */
function placeOf(url: string): string {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  return inPackage ?? url.split('/').slice(-2).join('/')
}
