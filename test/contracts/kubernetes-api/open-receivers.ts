import { createCertificateAuthority } from '../../../src/adapters/certificates/certificate-authority.ts'
import type { Receivers } from './bench.ts'
import { SERVICE_HOST } from './service-host.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

/** They listen before the API server starts, which must be told its users for them by port. */
export async function openReceivers(): Promise<Receivers & { close(): Promise<void> }> {
  const authority = await createCertificateAuthority(Date.now(), 'webhook receivers')
  const certificate = await authority.issueServingCertificate(['127.0.0.1', 'localhost', SERVICE_HOST])
  const start = () => startWebhookReceiver({ ...certificate, caPem: authority.caPem })
  const [main, exact, wildcard] = await Promise.all([start(), start(), start()])
  return {
    main,
    exact,
    wildcard,
    close: async () => void (await Promise.all([main, exact, wildcard].map((receiver) => receiver.close()))),
  }
}
