import type { ApiObject } from './api-object.ts'
import type { ResolvedTarget } from './core-environment.ts'
import { invalid } from './status-error.ts'
import { finalizerWarnings, validateMetadata, validateMetadataUpdate } from './validate-metadata.ts'

/** Throws the 422 that lists everything wrong with an object about to be stored. */
export function validateObject(
  object: ApiObject,
  old: ApiObject | undefined,
  { type, version }: ResolvedTarget,
  warn: (text: string) => void,
): void {
  const errors = [
    ...validateMetadata(object, type.nameRule),
    ...(old === undefined ? [] : validateMetadataUpdate(object, old)),
    ...version.validator(object),
    ...(type.validate?.(object, old) ?? []),
  ]
  if (errors.length > 0) throw invalid(type.group, type.kind, object.metadata.name ?? '', errors)
  for (const text of finalizerWarnings(object, old)) warn(text)
}
