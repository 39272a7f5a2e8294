import type { ApiCaller } from '../../adapters/kubernetes/api-caller.ts'
import { resourcePath } from '../../adapters/kubernetes/resource-path.ts'
import type { ApiUser, DryRun } from '../../domain/doctor/facts.ts'
import type { AccessRule } from '../../domain/doctor/required-access.ts'
import type { RegisteredWebhook, Webhook } from '../../domain/doctor/webhook.ts'
import { apiVersionOf, type Kind, type ObjectOfKind } from '../../domain/kinds.ts'
import { CannotAsk } from './ask.ts'

const CONFIGURATIONS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const
const PAGE = 500

export async function registeredWebhooks(api: ApiCaller): Promise<RegisteredWebhook[]> {
  const lists = await Promise.all(
    CONFIGURATIONS.map(async (kind) => {
      const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`
      const { items } = (await get(api, path)) as { items: { metadata: { name: string }; webhooks?: Webhook[] }[] }
      return items.flatMap(({ metadata, webhooks = [] }) =>
        webhooks.map((webhook) => ({ kind, configuration: metadata.name, webhook })),
      )
    }),
  )
  return lists.flat()
}

/** Creates the object in a dry run, twice: the first may find everything cold. */
export async function dryRunOf(
  api: ApiCaller,
  kind: Kind,
  object: { metadata: { namespace: string } },
): Promise<DryRun> {
  const path = `${resourcePath(kind, { namespace: object.metadata.namespace })}?dryRun=All`
  const timed = async () => {
    const startedAt = performance.now()
    const reply = await api.call('POST', path, object)
    return { reply, ms: performance.now() - startedAt }
  }
  const first = await timed()
  const second = await timed()
  const { status, body, warnings } = second.reply
  const { metadata, message } = recordOf(body) as { metadata?: { finalizers?: string[] }; message?: string }
  return {
    status,
    message: status < 300 ? '' : String(message ?? 'no reason given').slice(0, 400),
    warnings: [...first.reply.warnings, ...warnings],
    finalizers: metadata?.finalizers ?? [],
    firstMs: first.ms,
    secondMs: second.ms,
  }
}

export function accessTo(
  api: ApiCaller,
  rules: readonly AccessRule[],
): Promise<{ rule: AccessRule; allowed: boolean }[]> {
  return Promise.all(
    rules.map(async (rule) => {
      const review = { spec: { resourceAttributes: rule } }
      const { status } = (await post(api, 'authorization.k8s.io/v1', 'SelfSubjectAccessReview', review)) as {
        status?: { allowed?: boolean }
      }
      return { rule, allowed: status?.allowed === true }
    }),
  )
}

export async function whoAmI(api: ApiCaller): Promise<ApiUser> {
  const { status } = (await post(api, 'authentication.k8s.io/v1', 'SelfSubjectReview', {})) as {
    status?: { userInfo?: { username?: string; groups?: string[] } }
  }
  const { username, groups = [] } = status?.userInfo ?? {}
  if (username === undefined) throw new CannotAsk('the API server did not say who we are')
  return { username, groups }
}

/** What is served under each `group/version` of these paths; nothing where there is no such version. */
export async function resourcesServed(api: ApiCaller, versions: readonly string[]): Promise<Record<string, string[]>> {
  const entries = await Promise.all(
    versions.map(async (version): Promise<[string, string[]]> => {
      const path = version.startsWith('/') ? `/api${version}` : `/apis/${version}`
      const { status, body } = await api.call('GET', path)
      if (status === 404) return [version, []]
      if (status >= 300) throw refusal(status, body)
      const { resources = [] } = recordOf(body) as { resources?: { name: string }[] }
      return [version, resources.map(({ name }) => name)]
    }),
  )
  return Object.fromEntries(entries)
}

export async function serverVersion(api: ApiCaller): Promise<string> {
  const { gitVersion } = (await get(api, '/version')) as { gitVersion?: string }
  if (gitVersion === undefined) throw new CannotAsk('the API server does not say its version')
  return gitVersion
}

/** Every object of the kind, page by page. */
export async function listEvery<K extends Kind>(api: ApiCaller, kind: K): Promise<ObjectOfKind[K][]> {
  const found: ObjectOfKind[K][] = []
  let token: string | undefined
  do {
    const query = new URLSearchParams({ limit: String(PAGE), ...(token === undefined ? {} : { continue: token }) })
    const { items, metadata } = (await get(api, `${resourcePath(kind, {})}?${query}`)) as {
      items: ObjectOfKind[K][] | null
      metadata?: { continue?: string }
    }
    // Items of a typed list carry neither.
    found.push(...(items ?? []).map((item) => ({ ...item, kind, apiVersion: apiVersionOf(kind) })))
    token = metadata?.continue || undefined
  } while (token !== undefined)
  return found
}

async function get(api: ApiCaller, path: string): Promise<Record<string, unknown>> {
  const { status, body } = await api.call('GET', path)
  if (status >= 300) throw refusal(status, body)
  return recordOf(body)
}

async function post(api: ApiCaller, apiVersion: string, kind: string, body: object): Promise<Record<string, unknown>> {
  const reply = await api.call('POST', `/apis/${apiVersion}/${kind.toLowerCase()}s`, { apiVersion, kind, ...body })
  if (reply.status >= 300) throw refusal(reply.status, reply.body)
  return recordOf(reply.body)
}

function refusal(status: number, body: unknown): CannotAsk {
  const { message } = recordOf(body)
  return new CannotAsk(
    `the API server answered ${status}${typeof message === 'string' ? `: ${message.slice(0, 300)}` : ''}`,
  )
}

function recordOf(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
}
