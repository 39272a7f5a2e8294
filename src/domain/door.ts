/** Groups of routes that are guarded alike. Probes, the API's description and the handshake of CloudEvents are in none. */
export const DOORS = ['admission', 'events', 'sweep', 'metrics'] as const

export type Door = (typeof DOORS)[number]
