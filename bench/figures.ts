import type { Figure } from './figure.ts'
import { adapter } from './figures/adapter.ts'
import { bundleSize } from './figures/bundle-size.ts'
import { coldStart } from './figures/cold-start.ts'
import { create } from './figures/create.ts'
import { idle } from './figures/idle.ts'
import { notifyDoor } from './figures/notify-door.ts'
import { peersFigure } from './figures/peers.ts'
import { reconcile } from './figures/reconcile.ts'
import { requestsFigure } from './figures/requests.ts'
import { sweepFigure } from './figures/sweep.ts'

export const FIGURES: readonly Figure[] = [
  bundleSize,
  requestsFigure,
  coldStart,
  notifyDoor,
  create,
  adapter,
  reconcile,
  idle,
  sweepFigure,
  peersFigure,
]
