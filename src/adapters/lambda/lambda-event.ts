/** An HTTP request as AWS hands it to a function; only what is read here. */
export type LambdaEvent = PayloadV2 | PayloadV1

/** Of a function URL, and of an HTTP API with payload format 2.0. */
export interface PayloadV2 {
  version: '2.0'
  /** Begins with the stage, unless that is `$default`. */
  rawPath: string
  rawQueryString?: string
  headers?: Record<string, string>
  cookies?: string[]
  requestContext: { stage?: string; http: { method: string; sourceIp?: string } }
  body?: string | null
  isBase64Encoded?: boolean
}

/** Of a REST API, of an HTTP API with payload format 1.0, and of an Application Load Balancer. */
export interface PayloadV1 {
  /** An HTTP API only. */
  version?: '1.0'
  httpMethod: string
  path: string
  headers?: Record<string, string> | null
  /** A load balancer sends either these or the plain ones, as its target group says; a gateway sends both. */
  multiValueHeaders?: Record<string, string[]> | null
  queryStringParameters?: Record<string, string> | null
  multiValueQueryStringParameters?: Record<string, string[]> | null
  requestContext: {
    /** Of a load balancer only. */
    elb?: { targetGroupArn: string }
    stage?: string
    identity?: { sourceIp?: string }
  }
  body?: string | null
  isBase64Encoded?: boolean
}

export interface LambdaAnswer {
  statusCode: number
  statusDescription?: string
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, string[]>
  body: string
  isBase64Encoded: boolean
}
