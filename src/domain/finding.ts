/** One thing wrong with an object, in the words of the API server's own validation. */
export interface Finding {
  /** `spec.rules[0].host` */
  field: string
  reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueTypeInvalid'
    | 'FieldValueTooLong'
  /** Complete, without the field: `Invalid value: "x": must be a DNS name, not an IP address` */
  message: string
}
