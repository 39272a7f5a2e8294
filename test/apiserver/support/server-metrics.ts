import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'

/** What the API server counts of its webhooks, by the door that each of ours is named after. */
export interface WebhookCounts {
  mutate: number
  validate: number
  notify: number
}

/** Calls of each door that the API server made, answered or not. */
export function webhookCalls(admin: ApiClient): Promise<WebhookCounts> {
  return countsOf(admin, 'apiserver_admission_webhook_request_total')
}

/** Calls of each door that failed and were passed over, as `failurePolicy: Ignore` says. */
export function failedOpen(admin: ApiClient): Promise<WebhookCounts> {
  return countsOf(admin, 'apiserver_admission_webhook_fail_open_count')
}

export function difference(after: WebhookCounts, before: WebhookCounts): WebhookCounts {
  return {
    mutate: after.mutate - before.mutate,
    validate: after.validate - before.validate,
    notify: after.notify - before.notify,
  }
}

async function countsOf(admin: ApiClient, metric: string): Promise<WebhookCounts> {
  const { code, text } = await admin.get('/metrics', 'text/plain')
  if (code !== 200) throw new Error(`/metrics answers ${code}`)
  const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`))
  const of = (door: string) =>
    lines
      .filter((line) => line.includes(`name="${door}.webhook-cloud-provider.dev"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  return { mutate: of('mutate'), validate: of('validate'), notify: of('notify') }
}
