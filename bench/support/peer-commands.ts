import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import type { Bench } from '../bench.ts'
import type { ProcessCommand } from './measured-process.ts'
import { providePeers } from './provide-peers.ts'

/** What does the same review in another way. */
export interface Peers {
  express(port: number): ProcessCommand
  pepr(port: number, options?: { withoutJitter?: boolean }): ProcessCommand
  close(): Promise<void>
}

/** What Pepr's doors end in, instead of a secret. */
export const PEPR_TOKEN = 'token'

/** Pepr opens its doors when it has read or made its store on an API server, and has this one for that. */
export async function startPeers(bench: Bench): Promise<Peers> {
  const [installed, programs] = [await providePeers(bench.log), await bench.floors()]
  const authority = await createCertificateAuthority(Date.now(), 'control plane')
  const plane = await startLocalControlPlane({ clock: createSystemClock(), definitions: [PEPR_STORE], authority })
  plane.core.preload([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'pepr-system' } }])
  const kubeconfig = join(bench.folder, 'pepr.kubeconfig')
  writeFileSync(kubeconfig, plane.kubeconfig, { mode: 0o600 })
  const { certFile, keyFile } = bench.tls
  return {
    express: (port) => ({
      args: [join(programs, 'express-with-ajv.cjs')],
      env: { PORT: String(port), CERT_FILE: certFile, KEY_FILE: keyFile, PEERS: installed, NODE_ENV: 'production' },
    }),
    pepr: (port, { withoutJitter = false } = {}) => ({
      args: [join(programs, 'pepr-module.cjs')],
      env: {
        PORT: String(port),
        PEERS: installed,
        NODE_ENV: 'production',
        KUBECONFIG: kubeconfig,
        SSL_CERT_PATH: certFile,
        SSL_KEY_PATH: keyFile,
        PEPR_API_PATH: PEPR_TOKEN,
        PEPR_WATCH_MODE: 'false',
        LOG_LEVEL: 'warn',
        ...(withoutJitter && { WITHOUT_JITTER: 'true' }),
      },
    }),
    close: () => plane.close(),
  }
}

/** As Pepr's controller registers it. */
const PEPR_STORE: ApiObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'peprstores.pepr.dev' },
  spec: {
    group: 'pepr.dev',
    scope: 'Namespaced',
    names: { plural: 'peprstores', singular: 'peprstore', kind: 'PeprStore' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
          },
        },
      },
    ],
  },
}
