import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { startKarmadaWebhooks } from '../../support/karmada-webhooks.ts'
import type { ScenarioContext } from '../scenario.ts'

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'

/** Karmada's own webhooks, through which every write of ours goes. */
export async function registerKarmada({ admin }: ScenarioContext): Promise<{ remove(): Promise<void> }> {
  const karmada = await startKarmadaWebhooks()
  const collection = (kind: string) => `${CONFIGURATIONS}/${kind.toLowerCase()}s`
  for (const configuration of karmada.configurations)
    await mustBe(201, admin.post(collection(configuration.kind), configuration))
  return {
    async remove() {
      for (const { kind, metadata } of karmada.configurations)
        await admin.delete(`${collection(kind)}/${metadata.name}`)
      await karmada.close()
    },
  }
}
