import { loadAll, YAMLException } from 'js-yaml'
import { interpretSchema, type SchemaFault } from '../adapters/schema/interpret-schema.ts'
import { parseCidr } from '../domain/cidr.ts'
import { isControllerEntry } from '../domain/cloud-controllers.ts'
import { FINALIZER_PREFIX } from '../domain/finalizers.ts'
import type { ConfigurationFault } from '../provider/registry.ts'
import { callerFaults, openDoorFaults } from './caller-faults.ts'
import type { Config } from './config.ts'
import { CONFIG_SCHEMA } from './config-schema.ts'
import { deliveryFaults } from './delivery-faults.ts'
import { platformFaults } from './platform-faults.ts'
import { WATCHED_RESOURCES } from './watched-resources.ts'

/** The few settings that platforms give by environment. */
export interface ConfigEnvironment {
  /** Knative and most function platforms: where to listen. */
  PORT?: string | undefined
  KUBECONFIG?: string | undefined
  /** The kubeconfig itself, where the platform has no files. */
  WCP_KUBECONFIG_YAML?: string | undefined
  /** Set by Knative Serving, which may scale to zero. */
  K_SERVICE?: string | undefined
  /** Set by Knative's SinkBinding: where events go. */
  K_SINK?: string | undefined
  /** OpenTelemetry's own: where traces go. */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  /** Set by AWS Lambda, which freezes the process after each answer. */
  AWS_LAMBDA_FUNCTION_NAME?: string | undefined
}

/** The configuration, or every fault of it. */
export type ParsedConfig =
  | { config: Config; faults: [] }
  /** `provider` and `doors`, as far as they could be read, so that their faults can be told together with the others. */
  | {
      config: undefined
      faults: ConfigurationFault[]
      provider?: Config['provider']
      /** Faults only of what opens doors. */
      doors: ConfigurationFault[]
    }

/** Parses YAML (or JSON) text; reads no file and no global. The text is never part of a fault: it may hold credentials of a provider. */
export function parseConfig(text: string, environment: ConfigEnvironment): ParsedConfig {
  const file = parseText(text)
  if ('fault' in file) return { config: undefined, faults: [file.fault], doors: [] }
  const value: unknown = file.value
  const ofSchema = interpretSchema(CONFIG_SCHEMA, value, { setsDefaults: true })
  const faults = [...ofSchema.map(faultOf), ...crossFaults(value, environment)]
  if (faults.length === 0) {
    return { config: deepFreeze(complete(value as FileConfig, environment)), faults: [] }
  }
  const provider = providerIn(value)
  const doors = openDoorFaults(section(value, 'callers'), section(value, 'server'))
  return { config: undefined, faults: dedupe(faults), doors, ...(provider === undefined ? {} : { provider }) }
}

function providerIn(value: unknown): Config['provider'] | undefined {
  const { name, options } = section(value, 'provider')
  return typeof name === 'string' && isRecord(options) ? { name, options } : undefined
}

/** Empty where the file has something else; that is a fault of its own. */
function section(value: unknown, name: string): Record<string, unknown> {
  const found = isRecord(value) ? value[name] : undefined
  return isRecord(found) ? found : {}
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The file after the schema's defaults. */
type FileConfig = Omit<Config, 'finalizer' | 'queue' | 'lock' | 'ingressClass' | 'watch'> & {
  watch: Partial<Config['watch']>
  finalizer?: string
  queue: Omit<Config['queue'], 'kind' | 'servers'> & Partial<Pick<Config['queue'], 'kind' | 'servers'>>
  lock?: Config['lock']
  ingressClass: Omit<Config['ingressClass'], 'controller'> & { controller?: string }
}

function parseText(text: string): { value: unknown } | { fault: ConfigurationFault } {
  try {
    // One pass over the text, where `yaml` builds a document first, which can be written again: that takes a cold start
    // several milliseconds.
    const [value, ...more] = loadAll(text)
    if (more.length > 0) throw new YAMLException('more than one document')
    return { value: value ?? {} }
  } catch (error) {
    // Without the parser's message, which shows an excerpt of the text.
    const { mark } = error instanceof YAMLException ? error : {}
    const where = mark === undefined ? '' : `: line ${mark.line + 1}, column ${mark.column + 1}`
    return { fault: { field: '(file)', message: `is not valid YAML${where}` } }
  }
}

function faultOf({ instancePath, keyword, params, message }: SchemaFault): ConfigurationFault {
  const path = instancePath.slice(1).split('/').filter(Boolean).map(unescapePointer).join('.')
  const under = (name: string) => (path === '' ? name : `${path}.${name}`)
  switch (keyword) {
    case 'additionalProperties':
      return { field: under(String(params['additionalProperty'])), message: 'is not a setting; check the spelling' }
    case 'required':
      return { field: under(String(params['missingProperty'])), message: 'is required' }
    case 'enum':
      return { field: path, message: `must be one of: ${(params['allowedValues'] as unknown[]).join(', ')}` }
    default:
      if (path === 'provider.name' && keyword === 'minLength') return { field: path, message: EMPTY_PROVIDER }
      return { field: path || '(file)', message }
  }
}

// Upstream's words for the same mistake.
const EMPTY_PROVIDER = '--cloud-provider cannot be empty'

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

function dedupe(faults: ConfigurationFault[]): ConfigurationFault[] {
  return [...new Map(faults.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()]
}

/** What no single field shows. The value may have faults of its own. */
function crossFaults(value: unknown, environment: ConfigEnvironment): ConfigurationFault[] {
  if (!isRecord(value)) return []
  const ingressClass = section(value, 'ingressClass')
  const faults = [
    ...kubernetesFaults(value, environment),
    ...selectorFaults(value),
    ...networkFaults(value),
    ...deadlineFaults(value),
    ...cloudFaults(value),
    ...callerFaults(section(value, 'callers'), section(value, 'server')),
    ...platformFaults({ queue: section(value, 'queue'), server: section(value, 'server') }, environment),
    ...deliveryFaults(
      { queue: section(value, 'queue'), lock: value['lock'], lease: section(value, 'lease') },
      environment,
    ),
  ]
  faults.push(...telemetryFaults(value, environment))
  if (environment.PORT && !isPort(environment.PORT)) {
    faults.push({ field: 'PORT', message: 'must be a port number from 0 to 65535 (from the environment, or --port)' })
  }
  const { names } = ingressClass
  if (ingressClass['default'] === true && Array.isArray(names) && names.length === 0) {
    faults.push({ field: 'ingressClass.names', message: 'must name the class that ingressClass.default speaks of' })
  }
  return faults
}

function kubernetesFaults(
  value: Record<string, unknown>,
  { KUBECONFIG, WCP_KUBECONFIG_YAML }: ConfigEnvironment,
): ConfigurationFault[] {
  if (!isRecord(value['kubernetes'])) return []
  const { inCluster, kubeconfig, context } = value['kubernetes']
  if (inCluster === true && kubeconfig !== undefined) {
    return [{ field: 'kubernetes', message: 'kubeconfig and inCluster exclude each other' }]
  }
  if (inCluster === true && context !== undefined) {
    return [{ field: 'kubernetes.context', message: 'names a context of a kubeconfig, and inCluster uses none' }]
  }
  if (inCluster === false && kubeconfig === undefined && !KUBECONFIG && !WCP_KUBECONFIG_YAML) {
    const message = 'set kubernetes.kubeconfig, kubernetes.inCluster: true, or the variable KUBECONFIG'
    return [{ field: 'kubernetes', message }]
  }
  return []
}

function deadlineFaults(value: Record<string, unknown>): ConfigurationFault[] {
  const { deadlineMs, providerDeadlineMs } = section(value, 'work')
  if (typeof deadlineMs !== 'number' || typeof providerDeadlineMs !== 'number' || providerDeadlineMs < deadlineMs)
    return []
  return [{ field: 'work.providerDeadlineMs', message: `must be shorter than work.deadlineMs (${deadlineMs})` }]
}

function cloudFaults(value: Record<string, unknown>): ConfigurationFault[] {
  const faults: ConfigurationFault[] = []
  const { controllers } = section(value, 'cloud')
  for (const [index, entry] of (Array.isArray(controllers) ? controllers : []).entries()) {
    if (typeof entry !== 'string' || isControllerEntry(entry)) continue
    faults.push({ field: `cloud.controllers.${index}`, message: 'is not the name of a controller' })
  }
  return faults
}

function networkFaults(value: Record<string, unknown>): ConfigurationFault[] {
  const { networks } = section(value, 'backends')
  if (!Array.isArray(networks)) return []
  return networks.flatMap((network: unknown, index) =>
    typeof network !== 'string' || parseCidr(network) !== undefined
      ? []
      : [{ field: `backends.networks.${index}`, message: 'is not a network such as 10.0.0.0/8' }],
  )
}

/** As the API server takes selectors: another one would match nothing, without a word. */
function selectorFaults(value: Record<string, unknown>): ConfigurationFault[] {
  const { matchExpressions } = section(section(value, 'multiClusterServices'), 'selector')
  if (!Array.isArray(matchExpressions)) return []
  return matchExpressions.flatMap((expression: unknown, index) => {
    const { operator, values } = isRecord(expression) ? expression : {}
    const field = `multiClusterServices.selector.matchExpressions.${index}.values`
    const given = Array.isArray(values) ? values.length : 0
    if ((operator === 'In' || operator === 'NotIn') && given === 0) {
      return [{ field, message: `must name at least one value for ${operator}` }]
    }
    if ((operator === 'Exists' || operator === 'DoesNotExist') && given > 0) {
      return [{ field, message: `must be absent for ${operator}` }]
    }
    return []
  })
}

/** Credentials in a URL end in messages; the collector's go into OTEL_EXPORTER_OTLP_HEADERS. */
function telemetryFaults(value: Record<string, unknown>, environment: ConfigEnvironment): ConfigurationFault[] {
  const { endpoint } = section(section(value, 'telemetry'), 'traces')
  const given = {
    'telemetry.traces.endpoint': endpoint,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint === undefined ? environment.OTEL_EXPORTER_OTLP_ENDPOINT : undefined,
  }
  return Object.entries(given).flatMap(([field, url]) =>
    !url || typeof url !== 'string' || isPlainHttpUrl(url)
      ? []
      : [{ field, message: 'must be an http(s) URL without credentials, such as http://collector:4318' }],
  )
}

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === ''
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}

function complete(file: FileConfig, environment: ConfigEnvironment): Config {
  const named = `${FINALIZER_PREFIX}${file.provider.name}`
  const { PORT } = environment
  const { kind = 'memory' } = file.queue
  return {
    ...file,
    finalizer: file.finalizer ?? named,
    ingressClass: { ...file.ingressClass, controller: file.ingressClass.controller ?? named },
    queue: { ...file.queue, kind, servers: file.queue.servers ?? [] },
    lock: file.lock ?? (kind === 'memory' ? 'none' : 'lease'),
    kubernetes: credentialsOf(file.kubernetes, environment),
    server: PORT ? { ...file.server, port: Number(PORT) } : file.server,
    telemetry: completeTelemetry(file.telemetry, environment),
    watch: { resources: file.watch.resources ?? [...WATCHED_RESOURCES[file.controlPlane ?? 'karmada']] },
  }
}

function completeTelemetry(
  telemetry: Config['telemetry'],
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }: ConfigEnvironment,
): Config['telemetry'] {
  return telemetry.traces !== undefined || !endpoint ? telemetry : { traces: { endpoint, sampleRatio: 1 } }
}

/** What the file says goes before the environment. */
function credentialsOf(
  kubernetes: Config['kubernetes'],
  { KUBECONFIG, WCP_KUBECONFIG_YAML }: ConfigEnvironment,
): Config['kubernetes'] {
  if (kubernetes.inCluster || kubernetes.kubeconfig !== undefined) return kubernetes
  if (WCP_KUBECONFIG_YAML) return { ...kubernetes, kubeconfigText: WCP_KUBECONFIG_YAML }
  return KUBECONFIG ? { ...kubernetes, kubeconfig: KUBECONFIG } : kubernetes
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
