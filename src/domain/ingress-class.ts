import type { KubernetesObject } from './kubernetes-object.ts'

/** networking.k8s.io/v1 IngressClass (cluster scope). */
export interface IngressClass extends KubernetesObject {
  spec?: { controller?: string }
}

const DEFAULT_CLASS_ANNOTATION = 'ingressclass.kubernetes.io/is-default-class'

export function isDefaultClass(ingressClass: IngressClass): boolean {
  return ingressClass.metadata.annotations?.[DEFAULT_CLASS_ANNOTATION] === 'true'
}
