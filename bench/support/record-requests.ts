import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import type { Bench } from '../bench.ts'
import type { RecordedRequest } from '../clients/recorded-request.ts'
import { ingressesOf, type WorldSize } from './build-world.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import { startControlPlane } from './start-control-plane.ts'
import { startFunction } from './start-function.ts'

/**
 * What the function asks of the API server until all ingresses of this world are served: a list for each thing that it
 * works on, in the order in which they were begun.
 */
export async function recordRequests(bench: Bench, size: WorldSize): Promise<RecordedRequest[][]> {
  const plane = await startControlPlane(size)
  const proxy = await startRecordingProxy(bench.tls, plane)
  const kubeconfig = kubeconfigOf({ ...plane, url: proxy.url, caPem: bench.tls.caPem })
  const running = await startFunction(bench, { kubeconfig })
  try {
    await running.doors.notify(ingressesOf(size))
    await plane.served(size.ingresses)
    // The last status is seen before its request is answered.
    await proxy.answered()
    return [...Map.groupBy([...proxy.recorded], subjectOf).values()]
  } finally {
    await running.stop()
    await proxy.close()
    await plane.stop()
  }
}

/** The ingress or Service that a request is about; what is about none is asked first, and one after the other. */
function subjectOf({ path, body = '' }: RecordedRequest): string {
  const namespace = /\/namespaces\/([^/?]+)/.exec(path)?.[1]
  const name = /ingress-\d+|web-\d+/.exec(path)?.[0] ?? /ingress-\d+|web-\d+/.exec(body)?.[0]
  return name === undefined ? 'shared' : `${namespace}/${name}`
}
