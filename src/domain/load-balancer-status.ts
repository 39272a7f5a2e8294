/** `status.loadBalancer` of an ingress or a service; the order of entries is the provider's and is kept. */
export interface LoadBalancerStatus {
  ingress?: LoadBalancerIngress[]
}

export interface LoadBalancerIngress {
  ip?: string
  hostname?: string
  ipMode?: string
  ports?: { port: number; protocol?: string; error?: string }[]
}
