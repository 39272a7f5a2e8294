import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'

/** The cases were handed over beside this repository; where they are not, tests that need them are skipped. */
const KARMADA_CASES_FOLDER = join(import.meta.dirname, '../../../shared/cases/karmada')

/** What the cases take for granted: the Go manager's names are ours, and so is this controller. */
export const CASE_SETTINGS = {
  controller: 'karmada.example.io/provider-a',
  finalizers: {
    MultiClusterIngress: 'karmada.io/multi-cluster-ingress-controller',
    MultiClusterService: 'karmada.io/multi-cluster-service-controller',
  },
  /** IngressClasses of that controller, over all cases. */
  classNames: ['multicloud', 'elb'],
} as const

/** One state of a control plane, and perhaps the next one of the same objects. */
export interface KarmadaCase {
  id: number
  /** `01-mci-minimal-default-class` */
  name: string
  title: string
  /** The state in which the story begins, in the order of the file. */
  objects: KubernetesObject[]
  /** What is different afterwards; empty when the case has one state only. */
  after: KubernetesObject[]
  verdicts: Verdict[]
  verdictsAfter: Verdict[]
}

/** What Karmada's own admission says of an object, found by running its code. */
export interface Verdict {
  kind: string
  /** `storefront-*` for an object with generateName. */
  name: string
  /** `ok`, or what the CRD's schema finds. */
  schema: string
  /** Fields that are dropped before anybody sees them. */
  pruned: string[]
  /** `ALLOWED`, `DENIED …` in Karmada's words, or `-` where the schema stopped it. */
  webhook: string
}

interface IndexEntry {
  id: number
  file: string
  after: string | null
  title: string
  admission: Verdict[]
  admissionAfter: Verdict[]
}

/** Every case, by number. Undefined where the folder is not there. */
export function loadKarmadaCases(folder = KARMADA_CASES_FOLDER): KarmadaCase[] | undefined {
  if (!existsSync(folder)) return undefined
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as IndexEntry[]
  return index
    .map(({ id, file, after, title, admission, admissionAfter }) => ({
      id,
      name: file.replace(/\.yaml$/, ''),
      title,
      objects: readObjects(join(folder, file)),
      after: after === null ? [] : readObjects(join(folder, after)),
      verdicts: admission,
      verdictsAfter: admissionAfter,
    }))
    .sort((a, b) => a.id - b.id)
}

/** The expectation in words, to be quoted where a test disagrees. */
export function readExpectation({ name }: KarmadaCase, folder = KARMADA_CASES_FOLDER): string {
  return readFileSync(join(folder, `${name}.expect.md`), 'utf8')
}

/** Cases on disk that the index does not list; more cases are only more files, and none may be forgotten. */
export function unlistedCases(cases: readonly KarmadaCase[], folder = KARMADA_CASES_FOLDER): string[] {
  const listed = new Set(cases.map(({ name }) => name))
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml') && !file.endsWith('.after.yaml'))
    .map((file) => file.replace(/\.yaml$/, ''))
    .filter((name) => !listed.has(name))
}

function readObjects(file: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null)
    .filter(isStorable)
}

/** No API server stores a label of more than 63 characters: a Service of a long name has no collected slices (case 22). */
function isStorable({ metadata }: KubernetesObject): boolean {
  return Object.values(metadata.labels ?? {}).every((value) => value.length <= 63)
}
