import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { workOfData } from '../../src/domain/work-data.ts'
import type { WorkItem } from '../../src/domain/work-item.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { kubeconfigOf } from '../../src/local/kubeconfig.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import { buildClass, buildServiceWorld } from '../support/build-objects.ts'
import { startEventReceiver } from '../support/event-receiver.ts'
import { FIXTURE_WORLD } from '../support/fixtures.ts'

/** What stands around a leaf that runs in a process of its own: an API server, and a sink that its work goes to. */
export interface LeafBench {
  /** The variables that hold the whole configuration, with these settings over it; nothing is in a file. */
  environment(settings?: object): Record<string, string>
  /** What the leaf handed over before it answered. */
  queued(): WorkItem[]
  forget(): void
  close(): Promise<void>
}

/** The world that the fixtures are written for, over HTTPS. */
export async function startLeafBench(): Promise<LeafBench> {
  const authority = await createCertificateAuthority(Date.now())
  const plane = await startLocalControlPlane({ clock: createSystemClock(), definitions: karmadaCrds, authority })
  plane.core.preload([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    buildClass(),
    ...buildServiceWorld('web'),
    ...buildServiceWorld('game'),
  ] as never)
  const sink = await startEventReceiver()
  const user = FIXTURE_WORLD.identity
  const { url, caPem } = plane
  return {
    environment: (settings) => ({
      WCP_CONFIG_YAML: JSON.stringify({ ...configuration(sink.url), ...settings }),
      WCP_KUBECONFIG_YAML: kubeconfigOf({ url, caPem, token: plane.tokenFor(user), user }),
    }),
    queued: () => sink.received.map(({ body }) => workIn(body)),
    forget() {
      sink.received.length = 0
    },
    async close() {
      await sink.down()
      await plane.close()
    },
  }
}

function configuration(sink: string): object {
  return {
    provider: { name: 'fake' },
    identity: FIXTURE_WORLD.identity,
    ingressClass: { names: FIXTURE_WORLD.classNames, default: FIXTURE_WORLD.defaultClassIsOurs },
    queue: { kind: 'cloudevents', sink },
    server: { host: '127.0.0.1' },
    callers: { anyone: true },
    log: { level: 'warn' },
  }
}

function workIn(body: string): WorkItem {
  const item = workOfData(JSON.parse(body))
  if (item === undefined) throw new TypeError(`the sink was sent something else than work: ${body}`)
  return item
}
