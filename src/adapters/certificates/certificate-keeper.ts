export const CERTIFICATE_FILES = ['ca.crt', 'ca.key', 'tls.crt', 'tls.key', 'issued.crt'] as const

/**
 * PEM text by name: `ca.crt` is the bundle, whose first authority signs with `ca.key`; `tls.crt` and `tls.key` are what
 * is served; `issued.crt` is every certificate that may still be served by somebody.
 */
export type CertificateFiles = Partial<Record<(typeof CERTIFICATE_FILES)[number], string>>

/** Where certificates and their keys are kept between two runs. */
export interface CertificateKeeper {
  /** For messages. */
  place: string
  read(signal: AbortSignal): Promise<CertificateFiles>
  /** Each file as a whole or not at all; keys before what needs them. Nobody but their owner may read keys. */
  write(files: CertificateFiles, signal: AbortSignal): Promise<void>
}
