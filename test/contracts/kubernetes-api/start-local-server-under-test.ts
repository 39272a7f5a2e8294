import { createCertificateAuthority } from '../../../src/adapters/certificates/certificate-authority.ts'
import { createSystemClock } from '../../../src/adapters/system/system-clock.ts'
import { startLocalControlPlane } from '../../../src/local/start-local-control-plane.ts'
import type { ServerUnderTest } from './server-under-test.ts'

/** The local control plane as the contract takes it. */
export async function startLocalServerUnderTest(): Promise<ServerUnderTest & { close(): Promise<void> }> {
  const clock = createSystemClock()
  const plane = await startLocalControlPlane({ clock, authority: await createCertificateAuthority(clock.now()) })
  return {
    name: 'local control plane',
    url: plane.url,
    caPem: plane.caPem,
    admin: { token: plane.adminToken, username: 'admin', groups: ['system:masters', 'system:authenticated'] },
    plain: { token: plane.tokenFor('plain'), username: 'plain', groups: ['system:authenticated'] },
    forget: async () => plane.core.compact(),
    close: () => plane.close(),
  }
}
