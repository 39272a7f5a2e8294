import type { KubernetesObject } from './kubernetes-object.ts'

/** A core/v1 Event as we write it: what `kubectl describe` shows under the object. */
export interface Event extends KubernetesObject {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  action?: string
  involvedObject: {
    apiVersion: string
    kind: string
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
  }
  source: { component: string }
  reportingComponent: string
  reportingInstance: string
  firstTimestamp: string
  lastTimestamp: string
  count: number
}
