import type { Config } from '../../config/config.ts'
import type { RegisteredWebhook, Webhook } from '../../domain/doctor/webhook.ts'
import { cloudWebhookConfigurations } from '../cloud-webhook-configurations.ts'
import { webhookConfigurations } from '../webhook-configurations.ts'

/** Never called: only the paths are compared. */
const ANY = 'https://function.invalid'

/** As this version registers them under this configuration; whether reviews of node statuses are wanted, `found` says. */
export function expectedWebhooks(
  { controlPlane, identity, finalizer, cloud }: Config,
  found: readonly RegisteredWebhook[],
): RegisteredWebhook[] {
  const nodeStatus = found.some(({ webhook }) =>
    webhook.rules?.some(({ resources }) => resources?.includes('nodes/status')),
  )
  const configurations =
    controlPlane === 'kubernetes'
      ? cloudWebhookConfigurations({
          at: { url: ANY },
          caPem: undefined,
          identity,
          loadBalancerClass: cloud.loadBalancerClass,
          nodeStatus,
        })
      : webhookConfigurations({ url: ANY, caPem: undefined, finalizer, identity })
  return configurations.flatMap(({ kind, metadata, webhooks }) =>
    webhooks.map((webhook: Webhook) => ({ kind, configuration: metadata.name, webhook })),
  )
}
