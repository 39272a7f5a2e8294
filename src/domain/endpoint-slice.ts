import type { KubernetesObject } from './kubernetes-object.ts'

/** discovery.k8s.io/v1 EndpointSlice. Lists that the API serves as null are possible: slices without endpoints have one. */
export interface EndpointSlice extends KubernetesObject {
  addressType?: string
  endpoints?: SliceEndpoint[] | null
  ports?: SlicePort[] | null
}

export interface SliceEndpoint {
  /** Only the first has a meaning. */
  addresses?: string[]
  conditions?: EndpointConditions
  nodeName?: string
  zone?: string
}

/** Absent is not false: see `endpoint-readiness.ts`. */
export interface EndpointConditions {
  ready?: boolean
  serving?: boolean
  terminating?: boolean
}

export interface SlicePort {
  /** The name of the Service port that it stands for; absent or empty where that has none. */
  name?: string
  /** Absent: every port, which is no port to balance to. */
  port?: number
  protocol?: string
  appProtocol?: string
}
