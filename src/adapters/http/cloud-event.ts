/** A CloudEvent 1.0, whatever mode it came in. Attributes that were null or left out are absent. */
export interface CloudEvent {
  id: string
  source: string
  type: string
  subject?: string
  /** RFC 3339. */
  time?: string
  dataschema?: string
  datacontenttype?: string
  /** In binary mode every value is text. */
  extensions: ReadonlyMap<string, ExtensionValue>
  data: CloudEventData
}

export type ExtensionValue = string | number | boolean

export type CloudEventData = { kind: 'none' } | { kind: 'json'; value: unknown } | { kind: 'bytes'; bytes: Uint8Array }
