import type { Asked } from './row.ts'

/** What a peer is compared by: we do so many times as many reviews, and take such a part of its time. */
interface PeerAsked {
  perSecond: Asked
  p99: Asked
  coldStart: Asked
}

/**
 * What must be reached and what is aimed at; ratios to the floor where there is one. A `guard` is nobody's promise: it is
 * far above what is measured, does not depend on the clock, and is there to find what got worse.
 */
export const ASKED = {
  coldStart: {
    door: {
      ms: { bound: { atMost: 1.5 }, aim: { atMost: 1.25 } },
      peakRssMb: { bound: { atMost: 1.4 }, aim: { atMost: 1.2 } },
      cpuMs: { bound: { atMost: 2.5 }, guard: true },
    },
    withClient: {
      ms: { bound: { atMost: 2.5 }, aim: { atMost: 2 } },
      peakRssMb: { bound: { atMost: 1.8 }, aim: { atMost: 1.5 } },
      cpuMs: { bound: { atMost: 3.2 }, guard: true },
    },
  },
  notifyDoor: {
    perSecond: { bound: { atLeast: 0.65 }, aim: { atLeast: 0.8 } },
    p99: { bound: { atMost: 2.2 }, aim: { atMost: 1.5 } },
    cpu: { bound: { atMost: 4 }, guard: true },
  },
  pepr: {
    perSecond: { bound: { atLeast: 5 }, aim: { atLeast: 7 } },
    p99: { bound: { atMost: 1 / 5 }, aim: { atMost: 1 / 7 } },
    coldStart: { bound: { atMost: 1 / 15 }, aim: { atMost: 1 / 25 } },
  } satisfies PeerAsked,
  create: { bound: { atMost: 1.25 }, aim: { atMost: 1.1 } },
  adapter: {
    perSecond: {
      1: { bound: { atLeast: 0.6 }, aim: { atLeast: 0.9 } },
      10: { bound: { atLeast: 0.45 }, aim: { atLeast: 0.9 } },
    },
    newConnections: { bound: { atMost: 0 } },
    cpu: { bound: { atMost: 1.6 }, guard: true },
  },
  reconcile: {
    ms: { bound: { atMost: 1.5 }, aim: { atMost: 1.2 } },
    cpu: { bound: { atMost: 2.5 }, guard: true },
  },
  sweep: {
    ms: { bound: { atMost: 1.5 }, aim: { atMost: 1.2 } },
    writes: { bound: { atMost: 0 } },
    memory: { bound: { atMost: 1.3 } },
  },
  idle: { requests: { bound: { atMost: 0 } }, cpuPercent: { bound: { atMost: 0.5 } } },
  bundleKb: { notify: { bound: { atMost: 500 } }, full: { bound: { atMost: 2_000 } } },
} as const

/** Requests to the API server for one ingress. */
export const MOST_WRITES = { created: 2, 'updated without effect': 0, 'told of once more': 0, deleted: 3 } as const

export function mostReads({ services, secrets }: { services: number; secrets: number }): number {
  return 4 + 3 * services + secrets
}
