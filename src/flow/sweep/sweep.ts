import type { Kind } from '../../domain/kinds.ts'
import type { Node } from '../../domain/node.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { SweepReport, SweepScope } from '../../domain/sweep-report.ts'
import { isVerificationDue } from '../../domain/verification.ts'
import type { SweepCall, SweepingReconciler } from '../../reconcilers/reconciler.ts'
import type { Flow } from '../flow.ts'
import { createEntryWork } from './entry-work.ts'
import { createPagePlanner } from './plan-page.ts'
import { readShared } from './read-shared.ts'
import type { SweepPass, SweepSettings } from './sweep-pass.ts'
import { SCOPE_PLANS, type SweptKind } from './sweep-plan.ts'
import { positionReached, type SweepProgress } from './sweep-progress.ts'
import { formatSweepToken, parseSweepToken, type SweepPosition } from './sweep-token.ts'

export interface SweepRequest {
  scope: SweepScope
  /** From an earlier report. */
  continue?: string
}

/**
 * Lists every object and reconciles it: what no event told is found here. Stops when the signal aborts and says where to
 * go on, after the last object that was begun: each call gets on whose time is enough for one page with what is around it.
 * What was given up half done is in the queue. Throws when a list fails.
 */
export async function sweep(
  request: SweepRequest,
  flow: Flow,
  settings: SweepSettings,
  signal: AbortSignal,
): Promise<SweepReport> {
  const report = emptyReport(request.scope)
  const kinds = SCOPE_PLANS[request.scope].kinds.filter((kind) => flow.reconcilers[kind] !== undefined)
  const start = parseSweepToken(request.continue, kinds.length + 1)
  const position = start ?? { kindIndex: 0, startedAt: flow.clock.now() }
  const progress: SweepProgress = { position, isThrough: false }
  try {
    await goOn(progress, start === undefined, { report, kinds, flow, settings, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return progress.isThrough ? report : { ...report, continue: formatSweepToken(positionReached(progress)) }
}

async function goOn(
  progress: SweepProgress,
  isFromTheStart: boolean,
  given: Pick<SweepPass, 'report' | 'kinds' | 'flow' | 'settings' | 'signal'>,
): Promise<void> {
  const { report, signal } = given
  const { once, unfinished } = SCOPE_PLANS[report.scope]
  const pass = begin(progress.position.startedAt, isFromTheStart, given)
  const planned = createPagePlanner(pass)
  // Whoever gives up asks no more what became of it.
  const plan = (position: SweepPosition) => {
    const page = planned(position)
    page.catch(() => {})
    return page
  }
  const work = createEntryWork(progress, pass)
  let ahead = plan(progress.position)
  await untilReady(pass)
  try {
    let page = await ahead
    while (page !== undefined) {
      // Read while this page is worked on.
      ahead = plan(page.next)
      await pass.flow.nextTurn?.()
      pass.sweeping[page.kind]?.see(page.objects)
      await work.begin(page)
      if (signal.aborted) return
      report.listed += page.objects.length
      progress.position = page.next
      progress.begun = undefined
      // Not kept while the next one is waited for.
      page = undefined
      page = await ahead
    }
    await work.begin(entriesOf(once))
    await work.finish()
    if (signal.aborted) return
    await work.begin(entriesOf(await overlooked(pass)))
  } finally {
    await work.finish()
  }
  if (signal.aborted) return
  if (isFromTheStart && !unfinished) await rememberHosts(pass)
  if (!unfinished) await sweepOrphans(pass)
  progress.isThrough = true
}

function begin(
  startedAt: number,
  isFromTheStart: boolean,
  given: Pick<SweepPass, 'report' | 'kinds' | 'flow' | 'settings' | 'signal'>,
): SweepPass {
  const { report, kinds, flow, settings, signal } = given
  const isWhole = !SCOPE_PLANS[report.scope].unfinished
  const isDue = (uid: string) => isWhole && isVerificationDue(uid, startedAt, settings)
  const sweeping = isWhole ? sweepingOf(kinds, flow, { isFromTheStart, signal, isVerificationDue: isDue }) : {}
  const shared = readShared(kinds, flow, settings, signal)
  shared.catch(() => {})
  return {
    ...given,
    flow: { ...flow, reconcilers: { ...flow.reconcilers, ...sweeping } },
    sweeping,
    shared,
    isVerificationDue: isDue,
    planned: new Set(),
    held: new Set(),
  }
}

function sweepingOf(
  kinds: readonly SweptKind[],
  { reconcilers }: Flow,
  call: SweepCall,
): Partial<Record<Kind, SweepingReconciler>> {
  const sweeping = kinds.map((kind) => [kind, reconcilers[kind]?.inSweep?.(call)] as const)
  return Object.fromEntries(sweeping.filter(([, reconciler]) => reconciler !== undefined))
}

// Of the time of a call: the rest of it has to be enough to get on.
const PATIENCE = 1 / 4

/** What is asked for once may be late, or never come: then each object asks for itself. */
async function untilReady({ sweeping, flow: { clock }, settings }: SweepPass): Promise<void> {
  const { promise: patience, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(settings.deadlineMs * PATIENCE, resolve)
  await Promise.race([patience, Promise.all(Object.values(sweeping).map((reconciler) => reconciler.ready()))])
  cancel()
}

function entriesOf(keys: readonly ObjectKey[]) {
  return { entries: keys.map((key) => ({ key })), known: {} }
}

async function overlooked({ sweeping }: SweepPass): Promise<ObjectKey[]> {
  return (await Promise.all(Object.values(sweeping).map((reconciler) => reconciler.overlooked()))).flat()
}

/** Every Service was seen with these nodes, or is in the queue. */
async function rememberHosts({ kinds, shared, flow: { hosts } }: SweepPass): Promise<void> {
  const nodes = (await shared).find(({ kind }) => kind === 'Node')?.items
  if (nodes !== undefined && kinds.includes('Service')) hosts?.remember(nodes as readonly Node[])
}

/** Last, when every living object was seen; a provider that cannot list has none to tell. */
async function sweepOrphans({ kinds, report, flow, signal, held }: SweepPass): Promise<void> {
  const { reader, reconcilers } = flow
  const isHeld = (uid: string) => held.has(uid)
  for (const kind of kinds) {
    const { found = 0, removed = 0 } = (await reconcilers[kind]?.sweepOrphans?.({ reader, signal, isHeld })) ?? {}
    report.orphans.found += found
    report.orphans.removed += removed
  }
}

function emptyReport(scope: SweepScope): SweepReport {
  return {
    scope,
    listed: 0,
    outcomes: { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 },
    orphans: { found: 0, removed: 0 },
  }
}
