import assert from 'node:assert/strict'
import { section } from '../contract-check.ts'
import { only } from './only.ts'

/** §1.1 and §1.2: what the API server sends. */
export const reviewRequestChecks = section('1.1 request', {
  'a review is POSTed to the path of the URL': async (bench) => {
    const hook = await bench.hook({ phase: 'mutating' })
    await bench.create(bench.widget('a'))
    const review = only(hook.reviews)
    assert.equal(review.method, 'POST')
    assert.deepEqual([review.review.apiVersion, review.review.kind], ['admission.k8s.io/v1', 'AdmissionReview'])
  },
})
