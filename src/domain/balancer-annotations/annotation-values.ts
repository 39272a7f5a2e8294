/** One kind of value that an annotation can have; the parser refuses with a text. */
export interface AnnotationValue<Value> {
  /** What values there are, in words. */
  values: string
  parse(text: string): Parsed<Value>
}

export type Parsed<Value> = { value: Value } | { fault: string }

export const wholeNumber = (least: number, most: number): AnnotationValue<number> => ({
  values: `${least} to ${most}`,
  parse: (text) =>
    /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
      ? { value: Number(text) }
      : { fault: `must be a whole number from ${least} to ${most}` },
})

export const oneOf = <const Known extends string>(...known: readonly Known[]): AnnotationValue<Known> => ({
  values: known.map((value) => `\`${value}\``).join(', '),
  parse(text) {
    const value = known.find((candidate) => candidate === text)
    return value === undefined ? { fault: `must be one of ${known.join(', ')}` } : { value }
  },
})

export const flag: AnnotationValue<boolean> = {
  values: '`true`, `false`',
  parse: (text) =>
    text === 'true' || text === 'false' ? { value: text === 'true' } : { fault: 'must be true or false' },
}

export const shaped = (values: string, fits: (text: string) => boolean): AnnotationValue<string> => ({
  values,
  parse: (text) => (fits(text) ? { value: text } : { fault: `must be ${values}` }),
})

/** Separated by commas; each is one of the given value, and none is there twice. */
export const listOf = <Value>(
  values: string,
  most: number,
  parseOne: (text: string) => Value | undefined,
): AnnotationValue<Value[]> => ({
  values,
  parse(text) {
    const texts = text.split(',').map((one) => one.trim())
    const parsed = texts.map(parseOne).filter((one) => one !== undefined)
    if (parsed.length < texts.length) return { fault: `must be ${values}` }
    if (new Set(texts).size < texts.length) return { fault: 'must not name anything twice' }
    return texts.length > most ? { fault: `must not be more than ${most}` } : { value: parsed }
  },
})

export const isPort = (text: string) => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535

const isName = (text: string) => /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,253}[A-Za-z0-9])?$/.test(text)
export const name = shaped('a name of letters, digits, dashes, dots and underscores', isName)

// The API server refuses to publish an address as a hostname.
const isDnsName = (text: string) =>
  text.length <= 253 &&
  /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)*[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text) &&
  !/^[\d.]+$/.test(text)
export const dnsName = shaped('a DNS name in lower case, not an address', isDnsName)
