/** Distinguished Encoding Rules (X.690): just what a certificate needs. */
export const der = {
  sequence: (...items: Buffer[]) => tagged(0x30, Buffer.concat(items)),
  set: (...items: Buffer[]) => tagged(0x31, Buffer.concat(items)),
  boolean: (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0x00])),
  /** Unsigned, most significant byte first. */
  integer(bytes: Uint8Array): Buffer {
    const start = bytes.findIndex((byte) => byte !== 0)
    const significant = start < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(start))
    const needsSign = ((significant[0] ?? 0) & 0x80) !== 0
    return tagged(0x02, needsSign ? Buffer.concat([Buffer.from([0]), significant]) : significant)
  },
  /** `unused` counts the bits at the end that mean nothing. */
  bits: (bytes: Uint8Array, unused = 0) => tagged(0x03, Buffer.concat([Buffer.from([unused]), bytes])),
  octets: (bytes: Uint8Array) => tagged(0x04, Buffer.from(bytes)),
  utf8: (value: string) => tagged(0x0c, Buffer.from(value)),
  /** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280 §4.1.2.5). */
  time(value: Date): Buffer {
    const digits = `${value.toISOString().replace(/\D/g, '').slice(0, 14)}Z`
    const isShort = value.getUTCFullYear() < 2050
    return tagged(isShort ? 0x17 : 0x18, Buffer.from(isShort ? digits.slice(2) : digits))
  },
  oid(dotted: string): Buffer {
    const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
    return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
  },
  /** `[n]` around other encodings. */
  explicit: (n: number, content: Buffer) => tagged(0xa0 + n, content),
  /** `[n]` in place of a primitive's own tag. */
  implicit: (n: number, content: Uint8Array) => tagged(0x80 + n, Buffer.from(content)),
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content])
}

function length(size: number): number[] {
  if (size < 0x80) return [size]
  const bytes: number[] = []
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 + bytes.length, ...bytes]
}

function base128(value: number): number[] {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(128 + (rest % 128))
  return bytes
}
