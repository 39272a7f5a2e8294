import { setTimeout as pause } from 'node:timers/promises'
import { connect, type PeerCertificate } from 'node:tls'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { ingress, ingressPath } from './balanced-objects.ts'
import { eachOf, names } from './each-of.ts'

/** Creates without a pause, and bursts wider than the API server's pool, so that it must open connections all the time. */
export function startLoad(admin: ApiClient, namespace: string) {
  let running = true
  let created = 0
  let tried = 0
  const create = async () => {
    while (running) {
      created += 1
      await mustBe(201, admin.post(ingressPath(namespace), ingress(`load-${created}`)))
      await pause(100)
    }
  }
  const burst = async () => {
    while (running) {
      await eachOf(names('burst', 40), 40, (name) =>
        mustBe(201, admin.post(`${ingressPath(namespace)}?dryRun=All`, ingress(name))),
      )
      tried += 40
      await pause(200)
    }
  }
  const loops = Promise.all([create(), create(), burst()])
  // Looked at when it is stopped.
  loops.catch(() => {})
  return {
    async stop() {
      running = false
      await loops
      return { created, tried }
    },
  }
}

/** Of the certificate that a new connection is given. */
export function servedSerial({ url, caPem }: { url: string; caPem: string }): Promise<string> {
  return servedCertificate({ url, caPem }).then(({ serialNumber }) => serialNumber)
}

/** What a new connection is given. */
export function servedCertificate({ url, caPem }: { url: string; caPem: string }): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ca: caPem }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    })
    socket.once('error', reject)
  })
}
