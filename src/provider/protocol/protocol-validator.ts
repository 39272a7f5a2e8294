/**
 * Compares a value with a schema of `PROTOCOL_SCHEMAS`. Answers the first fault, as `result.status.ingress[0].ip: must be
 * string`, or undefined when there is none. What the value holds is not in it.
 */
export type ProtocolValidator = (schema: string, value: unknown) => string | undefined
