import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../ports/clock.ts'
import type { UserInfo } from '../core/admission-chain.ts'
import type { ApiObject } from '../core/api-object.ts'
import type { ControlPlaneCore } from '../core/control-plane-core.ts'
import type { RequestTarget, Written } from '../core/core-environment.ts'
import type { PatchRequest } from '../core/patch-object.ts'
import type { ServedResource } from '../core/resource-registry.ts'
import type { ResourceType } from '../core/resource-type.ts'
import {
  badRequest,
  methodNotAllowed,
  noSuchResource,
  noSuchSubresource,
  type Status,
  StatusError,
  unauthorized,
  unsupportedPatchType,
  verbNotSupported,
} from '../core/status-error.ts'
import { aggregatedDiscovery, groupDocument, groupList, resourceList } from './discovery.ts'
import { negotiate, type Representation } from './negotiate.ts'
import { openApiDocument, openApiIndex } from './open-api.ts'
import { readBody } from './read-body.ts'
import { representEvent, representList, representObject, type View } from './represent.ts'
import { deleteOptions, isTrue, listQuery, timeout, watchQuery, writeOptions } from './request-parameters.ts'
import { parseRequestPath, type RequestPath } from './request-path.ts'

/** What is to be written to the connection. */
export type Response =
  | { kind: 'document'; status: number; body: object; warnings?: string[]; contentType?: string; yaml?: boolean }
  | { kind: 'text'; status: number; body: string }
  | { kind: 'stream'; start(send: (event: object) => void, end: () => void): () => void }

export interface Front {
  core: ControlPlaneCore
  clock: Clock
  /** `undefined` for a token nobody has. */
  userOf(token: string): UserInfo | undefined
}

interface Request {
  method: string
  parameters: URLSearchParams
  accept: Representation
  user: UserInfo
  message: IncomingMessage
}

const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0',
  gitCommit: 'local',
  gitTreeState: 'clean',
  buildDate: '2026-04-22T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'node',
}

/** One request from its first byte to what is answered. Never throws: every failure is a Status. */
export async function serveRequest(front: Front, message: IncomingMessage): Promise<Response> {
  try {
    const url = new URL(message.url ?? '/', 'https://localhost')
    const path = parseRequestPath(url.pathname)
    if (path.kind === 'health') return { kind: 'text', status: 200, body: 'ok' }
    if (path.kind === 'version') return { kind: 'document', status: 200, body: VERSION }
    const user = authenticate(front, message)
    const accept = negotiate(message.headers.accept)
    if (accept === undefined) throw notAcceptable()
    const request = { method: message.method ?? 'GET', parameters: url.searchParams, accept, user, message }
    if (path.kind === 'resource') return await serveResource(front, path, request)
    if (request.method !== 'GET') throw methodNotAllowed()
    return serveDocument(front, path, accept)
  } catch (error) {
    const status = statusOf(error)
    // Paths that are not served get the plain answer of a web server.
    if (status.code === 404 && status.details === undefined)
      return { kind: 'text', status: 404, body: '404 page not found\n' }
    const warnings = error instanceof StatusError ? [...error.warnings] : []
    return { kind: 'document', status: status.code ?? 500, body: status, warnings }
  }
}

function authenticate({ userOf }: Front, message: IncomingMessage): UserInfo {
  const [, token] = /^Bearer\s+(\S+)$/i.exec(message.headers.authorization ?? '') ?? []
  const user = token === undefined ? undefined : userOf(token)
  if (user === undefined) throw unauthorized()
  return user
}

function notAcceptable(): StatusError {
  const message = 'only the following media types are accepted: application/json, application/yaml'
  return new StatusError(406, 'NotAcceptable', message)
}

function statusOf(error: unknown): Status {
  if (error instanceof StatusError) return error.status
  const message = error instanceof Error ? error.message : String(error)
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`).status
}

function serveDocument({ core }: Front, path: RequestPath, { aggregated }: Representation): Response {
  const types = core.resources()
  const document = (body: object): Response => ({ kind: 'document', status: 200, body })
  const discovery = (of: 'core' | 'groups', plain: object): Response =>
    aggregated === undefined
      ? document(plain)
      : {
          kind: 'document',
          status: 200,
          body: aggregatedDiscovery(types, of, aggregated),
          contentType: `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`,
        }
  switch (path.kind) {
    case 'core-versions':
      return discovery('core', { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] })
    case 'groups':
      return discovery('groups', groupList(types))
    case 'group':
      return document(groupDocument(types, path.group))
    case 'group-version':
      return document(resourceList(types, path.group, path.version))
    case 'openapi-index':
      return document(openApiIndex(types))
    case 'openapi':
      return document(openApiDocument(types, path.group, path.version))
    default:
      throw noSuchResource()
  }
}

async function serveResource(
  front: Front,
  { target, unknownSubresource }: Extract<RequestPath, { kind: 'resource' }>,
  request: Request,
): Promise<Response> {
  const { core } = front
  const { method, parameters, user } = request
  // Looked up once, at the start: with the last object of a CRD that is being deleted its kind goes too.
  const served = core.resource(target)
  const view = viewOf(front, served, request)
  const { custom } = served.type
  const { name = '' } = target
  if (unknownSubresource) throw noSuchSubresource(served.type, name)
  if (method === 'GET') return read(front, target, request, view)
  if (target.subresource !== undefined) requireUpdate(method, served.type)
  const patch = method === 'PATCH' ? patchType(custom, request) : undefined
  const value = await readBody(request.message)
  const written = ({ object, created, warnings }: Written): Response => {
    const shown = representObject(object, view())
    return { ...document(request, shown), status: created ? 201 : 200, warnings }
  }
  // What a custom object's path says about the name does not count for a POST.
  if (method === 'POST' && (name === '' || custom)) {
    const { name: _, ...collection } = target
    return written(await core.create(collection, required(value), writeOptions(parameters, user, 'CreateOptions')))
  }
  if (custom && name === '' && (method === 'PUT' || method === 'PATCH')) throw badRequest('name must be provided')
  if (method === 'PUT' && name !== '') {
    return written(await core.replace(target, required(value), writeOptions(parameters, user, 'UpdateOptions')))
  }
  if (patch !== undefined && name !== '') {
    const options = writeOptions(parameters, user, 'PatchOptions')
    return written(await core.patch(target, { type: patch, body: required(value) }, options))
  }
  if (method === 'DELETE') {
    const options = deleteOptions(parameters, value, user)
    if (name === '') {
      const list = await core.deleteCollection(target, listQuery(parameters), options)
      return document(request, representList(list, view()))
    }
    const { answer, warnings } = await core.delete(target, options)
    const shown = isStatus(answer) ? answer : representObject(answer, view())
    return { ...document(request, shown), warnings }
  }
  throw methodNotAllowed()
}

/** A subresource is read and changed; it neither comes nor goes by itself. */
function requireUpdate(method: string, type: ResourceType): void {
  if (method === 'PUT' || method === 'PATCH') return
  const verb = { POST: 'create', DELETE: 'delete' }[method]
  throw type.custom && verb !== undefined ? verbNotSupported(type, verb) : methodNotAllowed()
}

function isStatus(answer: ApiObject | Status): answer is Status {
  return answer.kind === 'Status'
}

function read({ core }: Front, target: RequestTarget, request: Request, view: () => View): Response {
  const { parameters } = request
  if (isTrue(parameters, 'watch')) return watch(core, target, request, view)
  // Nothing waits here, but what is no duration is refused.
  timeout(parameters)
  if (target.name === undefined) {
    return document(request, representList(core.list(target, listQuery(parameters)), view()))
  }
  return document(request, representObject(core.get(target), view()))
}

/** The watch begins at once, so that a wrong selector or resourceVersion is a plain error and not a broken stream. */
function watch(core: ControlPlaneCore, target: RequestTarget, request: Request, view: () => View): Response {
  const early: object[] = []
  let send = (event: object): void => {
    early.push(event)
  }
  let hasEnded = false
  let end = (): void => {
    hasEnded = true
  }
  const stop = core.watch(target, watchQuery(request.parameters), {
    onEvent: (event) => send(representEvent(event, view())),
    onEnd: () => end(),
  })
  return {
    kind: 'stream',
    start(sendNow, endNow) {
      for (const event of early) sendNow(event)
      send = sendNow
      end = endNow
      if (hasEnded) endNow()
      return stop
    },
  }
}

function document({ accept }: Request, body: object): Extract<Response, { kind: 'document' }> {
  return { kind: 'document', status: 200, body, yaml: accept.encoding === 'yaml' }
}

/** How objects are to look, at the moment of the answer: ages are counted up to it. */
function viewOf({ clock }: Front, { type, version }: ServedResource, { accept, parameters }: Request): () => View {
  const include = parameters.get('includeObject')
  const includeObject = include === 'None' || include === 'Object' ? include : 'Metadata'
  return () => ({ form: accept.form, includeObject, type, version, now: clock.now() })
}

function required(value: unknown): unknown {
  if (value === undefined) throw badRequest('the body of the request must not be empty')
  return value
}

function patchType(isCustom: boolean, request: Request): PatchRequest['type'] {
  const types: Readonly<Record<string, PatchRequest['type']>> = {
    'application/json-patch+json': 'json',
    'application/merge-patch+json': 'merge',
    ...(isCustom ? {} : { 'application/strategic-merge-patch+json': 'strategic' as const }),
    'application/apply-patch+yaml': 'apply',
  }
  const [mediaType = ''] = (request.message.headers['content-type'] ?? '').split(';')
  const type = types[mediaType.trim().toLowerCase()]
  if (type === undefined) throw unsupportedPatchType(Object.keys(types))
  return type
}
