import type { ApiObject } from '../core/api-object.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'

export interface VersionSketch {
  name: string
  schema: StructuralSchema
  /** Default: true. */
  storage?: boolean
  /** Default: none at all. */
  subresources?: { status?: Record<string, never> }
  columns?: { name: string; type: string; jsonPath: string; description?: string }[]
}

export interface DefinitionSketch {
  group: string
  kind: string
  plural: string
  singular?: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
  scope?: 'Namespaced' | 'Cluster'
  versions: VersionSketch[]
}

/** A CustomResourceDefinition as it would be written in YAML. */
export function customResourceDefinition(sketch: DefinitionSketch): ApiObject {
  const { group, kind, plural } = sketch
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: sketch.listKind ?? `${kind}List`,
        plural,
        singular: sketch.singular ?? kind.toLowerCase(),
        ...(sketch.shortNames === undefined ? {} : { shortNames: sketch.shortNames }),
        ...(sketch.categories === undefined ? {} : { categories: sketch.categories }),
      },
      scope: sketch.scope ?? 'Namespaced',
      versions: sketch.versions.map(({ name, schema, storage = true, subresources, columns }) => ({
        name,
        served: true,
        storage,
        schema: { openAPIV3Schema: schema },
        ...(subresources === undefined ? {} : { subresources }),
        ...(columns === undefined ? {} : { additionalPrinterColumns: columns }),
      })),
    },
  }
}

export const AGE_COLUMN = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
