import { createSchemaValidator } from '../adapters/schema/schema-validator.ts'
import type { AdmissionRequest } from '../domain/admission-request.ts'
import type { Finding } from '../domain/finding.ts'
import type { OwnershipRules } from '../flow/ownership-rules.ts'
import { validateOnAdmission } from '../flow/validate-on-admission.ts'
import type { MultiClusterProvider } from '../provider/multicluster.ts'

/** Schemas and rules, in one module that is loaded with the first review to validate. */
export function validateDoor(
  rules: OwnershipRules,
  provider: MultiClusterProvider,
): (request: AdmissionRequest) => Finding[] {
  const checks = { schema: createSchemaValidator(), provider }
  return (request) => validateOnAdmission(request, rules, checks)
}
