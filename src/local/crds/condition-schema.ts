import { integer, keyedList, list, object, oneOfTexts, text, timestamp } from '../schema/schema-builders.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'

const TYPE_PATTERN =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'

/** meta/v1 Condition. */
function conditionSchema(): StructuralSchema {
  return object(
    {
      'lastTransitionTime!': timestamp('When the status last went over into another one.'),
      'message!': text('What happened, for people; may be empty.', { maxLength: 32768 }),
      observedGeneration: integer('int64', 'The generation the condition was found for.', { minimum: 0 }),
      'reason!': text('Why, in one CamelCase word.', {
        maxLength: 1024,
        minLength: 1,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      }),
      'status!': oneOfTexts(['True', 'False', 'Unknown'], 'Whether it holds.'),
      'type!': text('What the condition is about.', { maxLength: 316, pattern: TYPE_PATTERN }),
    },
    'One thing that is known about the object.',
  )
}

/** A list of conditions with one entry a type, which several writers can share by server-side apply. */
export function sharedConditionsSchema(): StructuralSchema {
  return keyedList(['type'], conditionSchema(), 'What is known about the object, one entry a type.')
}

export function conditionsSchema(): StructuralSchema {
  return list(conditionSchema(), 'What is known about the object.')
}
