import { join } from 'node:path'
import ts from 'typescript'
import type { Manifest } from '../../src/compose/finish-manifests.ts'

const ROOT = join(import.meta.dirname, '../..')
const VIRTUAL = join(ROOT, 'test/manifests/typed-manifests.ts')

/**
 * What is wrong with these objects by the published schemas of Kubernetes, Knative and cert-manager. The validators find
 * what is missing or of a wrong type, and overlook fields that do not exist; the types of the same packages find those.
 */
export async function schemaFaults(manifests: readonly Manifest[]): Promise<string[]> {
  const objects = manifests.map(asKnativeStoresIt)
  const invalid: string[] = []
  for (const object of objects) invalid.push(...(await validationFaults(object)))
  return [...invalid, ...typeFaults(objects)]
}

/** Its schemas are made from what is stored: ports of probes are filled in then, and a SinkBinding has a status. */
function asKnativeStoresIt(object: Manifest): Manifest {
  if (!object.apiVersion.endsWith('knative.dev/v1')) return object
  const text = JSON.stringify(object, (key, value: unknown) =>
    key === 'httpGet' ? { port: 0, ...(value as object) } : value,
  )
  const stored = JSON.parse(text) as Manifest
  return stored.kind === 'SinkBinding' ? { ...stored, status: {} } : stored
}

async function validationFaults(object: Manifest): Promise<string[]> {
  const module = (await import(moduleOf(object))) as Record<string, new (data: object) => { validate(): void }>
  const Model = module[object.kind]
  if (Model === undefined) return [`${nameOf(object)}: no schema of this kind in ${moduleOf(object)}`]
  try {
    new Model(object).validate()
    return []
  } catch (error) {
    return [`${nameOf(object)}: ${error instanceof Error ? error.message : error}`]
  }
}

/** Each object as a literal of its type, seen by the compiler in a file that is never written. */
function typeFaults(objects: readonly Manifest[]): string[] {
  const statements = objects.map(
    (object, index) =>
      `import type { I${object.kind} as T${index} } from '${moduleOf(object)}'\nexport const o${index}: T${index} = ${JSON.stringify(object)}`,
  )
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  const text = statements.join('\n')
  host.fileExists = (file) => file === VIRTUAL || fileExists(file)
  host.getSourceFile = (file, language, ...rest) =>
    file === VIRTUAL ? ts.createSourceFile(file, text, language) : getSourceFile(file, language, ...rest)
  const program = ts.createProgram([VIRTUAL], options, host)
  const lines = statements.flatMap((statement, index) => statement.split('\n').map(() => index))
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file?.fileName === VIRTUAL ? file.getLineAndCharacterOfPosition(start ?? 0).line : -1
    const object = objects[lines[line] ?? -1]
    const message = ts.flattenDiagnosticMessageText(messageText, ' ')
    return `${object === undefined ? (file?.fileName ?? '') : nameOf(object)}: ${message}`
  })
}

/** The module that has the kind: of Knative, of cert-manager, or of Kubernetes itself. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group = ''] = apiVersion.split('/')
  if (group.endsWith('knative.dev')) return `@kubernetes-models/knative/${apiVersion}/${kind}`
  if (group.endsWith('cert-manager.io')) return `@kubernetes-models/cert-manager/${apiVersion}/${kind}`
  return `kubernetes-models/${apiVersion}/${kind}`
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`
}
