import { Ajv, type ErrorObject } from 'ajv'
import { parse as parseYaml } from 'yaml'
import { FINALIZER_PREFIX } from '../domain/finalizers.ts'
import type { ConfigurationFault } from '../provider/registry.ts'
import type { Config } from './config.ts'
import { CONFIG_SCHEMA } from './config-schema.ts'

/** The few settings that platforms give by environment. */
export interface ConfigEnvironment {
  /** Knative and most function platforms: where to listen. */
  PORT?: string | undefined
  KUBECONFIG?: string | undefined
  /** Set by Knative Serving, which may scale to zero. */
  K_SERVICE?: string | undefined
}

/** The configuration, or every fault of it. Reads no file and no global. */
export type ParsedConfig = { config: Config; faults: [] } | { config: undefined; faults: ConfigurationFault[] }

/** Parses YAML (or JSON) text. The text is never part of a fault: it may hold credentials of a provider. */
export function parseConfig(text: string, environment: ConfigEnvironment): ParsedConfig {
  const file = parseText(text)
  if ('fault' in file) return { config: undefined, faults: [file.fault] }
  const validate = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: true,
    allowUnionTypes: true,
  }).compile<FileConfig>(CONFIG_SCHEMA)
  const value: unknown = file.value
  if (!validate(value)) return { config: undefined, faults: dedupe((validate.errors ?? []).map(faultOf)) }
  const faults = crossFaults(value, environment)
  return faults.length > 0
    ? { config: undefined, faults }
    : { config: deepFreeze(complete(value, environment)), faults: [] }
}

/** The file after the schema's defaults. */
type FileConfig = Omit<Config, 'finalizer' | 'queue' | 'ingressClass'> & {
  finalizer?: string
  queue: Omit<Config['queue'], 'kind'> & { kind?: 'memory' }
  ingressClass: Omit<Config['ingressClass'], 'controller'> & { controller?: string }
}

function parseText(text: string): { value: unknown } | { fault: ConfigurationFault } {
  try {
    return { value: parseYaml(text) ?? {} }
  } catch (error) {
    const where = error instanceof Error && 'linePos' in error ? linePosition(error.linePos) : ''
    return { fault: { field: '(file)', message: `is not valid YAML${where}` } }
  }
}

function linePosition(position: unknown): string {
  const [start] = Array.isArray(position) ? (position as { line: number; col: number }[]) : []
  return start === undefined ? '' : `: line ${start.line}, column ${start.col}`
}

function faultOf({ instancePath, keyword, params, message }: ErrorObject): ConfigurationFault {
  const path = instancePath.slice(1).split('/').filter(Boolean).join('.')
  const under = (name: string) => (path === '' ? name : `${path}.${name}`)
  switch (keyword) {
    case 'additionalProperties':
      return { field: under(String(params['additionalProperty'])), message: 'is not a setting; check the spelling' }
    case 'required':
      return { field: under(String(params['missingProperty'])), message: 'is required' }
    case 'enum':
      return { field: path, message: `must be one of: ${(params['allowedValues'] as unknown[]).join(', ')}` }
    default:
      return { field: path || '(file)', message: message ?? 'is invalid' }
  }
}

function dedupe(faults: ConfigurationFault[]): ConfigurationFault[] {
  return [...new Map(faults.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()]
}

/** What no single field shows. */
function crossFaults(
  { kubernetes, queue, ingressClass }: FileConfig,
  environment: ConfigEnvironment,
): ConfigurationFault[] {
  const faults: ConfigurationFault[] = []
  if (kubernetes.inCluster && kubernetes.kubeconfig !== undefined) {
    faults.push({ field: 'kubernetes', message: 'kubeconfig and inCluster exclude each other' })
  }
  if (!kubernetes.inCluster && kubernetes.kubeconfig === undefined && !environment.KUBECONFIG) {
    const message = 'set kubernetes.kubeconfig, kubernetes.inCluster: true, or the variable KUBECONFIG'
    faults.push({ field: 'kubernetes', message })
  }
  if (environment.PORT && !/^\d{1,5}$/.test(environment.PORT)) {
    faults.push({ field: 'PORT', message: 'the variable must be a port number' })
  }
  if (environment.K_SERVICE && queue.kind === undefined) {
    const message =
      'this platform may scale to zero and lose what the memory queue holds: set min-scale 1 and queue.kind: memory'
    faults.push({ field: 'queue.kind', message })
  }
  if (ingressClass.default && ingressClass.names.length === 0) {
    faults.push({ field: 'ingressClass.names', message: 'must name the class that ingressClass.default speaks of' })
  }
  return faults
}

function complete(file: FileConfig, { PORT, KUBECONFIG }: ConfigEnvironment): Config {
  const named = `${FINALIZER_PREFIX}${file.provider.name}`
  const { kubernetes } = file
  const fromEnvironment = !kubernetes.inCluster && kubernetes.kubeconfig === undefined && KUBECONFIG
  return {
    ...file,
    finalizer: file.finalizer ?? named,
    ingressClass: { ...file.ingressClass, controller: file.ingressClass.controller ?? named },
    queue: { ...file.queue, kind: 'memory' },
    kubernetes: fromEnvironment ? { ...kubernetes, kubeconfig: KUBECONFIG } : kubernetes,
    server: PORT ? { ...file.server, port: Number(PORT) } : file.server,
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
