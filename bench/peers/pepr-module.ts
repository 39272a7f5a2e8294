// A Pepr module as its controller runs it: one capability that learns of new ingresses, and one finalizer that it adds.
import { createRequire } from 'node:module'

const { PORT, PEERS = '', WITHOUT_JITTER } = process.env

interface Pepr {
  PeprModule: new (
    description: object,
    capabilities: Capability[],
    options: { deferStart: boolean },
  ) => { start(port: number): void }
  Capability: new (description: { name: string; description: string }) => Capability
  RegisterKind(model: unknown, kind: { group: string; version: string; kind: string }): void
}
interface Capability {
  When(model: unknown): { IsCreated(): Actions }
}
interface Actions {
  Validate(action: (request: { Approve(): unknown }) => unknown): void
  Mutate(action: (request: { Merge(part: object): void }) => void): void
}

// Before its first question to the API server each Pepr waits for up to three seconds, so that not all ask at once.
if (WITHOUT_JITTER !== undefined) Math.random = () => 0

const { PeprModule, Capability, RegisterKind }: Pepr = createRequire(`${PEERS}/`)('pepr')

class MultiClusterIngress {}
RegisterKind(MultiClusterIngress, { group: 'networking.karmada.io', version: 'v1alpha1', kind: 'MultiClusterIngress' })

const ingresses = new Capability({ name: 'ingresses', description: 'New ingresses' })
ingresses
  .When(MultiClusterIngress)
  .IsCreated()
  .Validate((request) => request.Approve())
ingresses
  .When(MultiClusterIngress)
  .IsCreated()
  .Mutate((request) => request.Merge({ metadata: { finalizers: ['example.com/ingress'] } }))

const settings = { uuid: 'bench', onError: 'reject', webhookTimeout: 10, alwaysIgnore: { namespaces: [] } }
new PeprModule({ description: 'Ingresses', pepr: settings }, [ingresses], { deferStart: true }).start(Number(PORT))
