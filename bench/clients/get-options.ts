export interface GetOptions {
  kubeconfig: string
  url: string
  caPem: string
  token: string
  /** Of each side. */
  rounds: number
  /** Of one round. */
  requests: number
  concurrency: number
}

/** Of one round of one side. */
export interface GetRound {
  perSecond: number
  /** Of this process, a request. */
  cpuMicroseconds: number
}

export interface GetResult {
  ours: GetRound[]
  floor: GetRound[]
  /** That ours opened once it was warm. */
  newConnections: number
}
