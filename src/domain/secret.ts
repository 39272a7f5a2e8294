import type { KubernetesObject } from './kubernetes-object.ts'

/** core/v1 Secret. Values are base64; none of them may reach a message, a log line or an event. */
export interface Secret extends KubernetesObject {
  type?: string
  data?: Record<string, string>
}
