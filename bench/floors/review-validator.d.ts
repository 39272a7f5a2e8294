declare module 'review-validator' {
  /** Made of `reviewSchema` when the floors are built. */
  export function validateReview(review: unknown): boolean
}
