/** The name under which a webhook behind a Service is called. */
export const SERVICE_NAMESPACE = 'webhook-service'
export const SERVICE_NAME = 'receiver'
export const SERVICE_HOST = `${SERVICE_NAME}.${SERVICE_NAMESPACE}.svc`
