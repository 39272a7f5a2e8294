import type { Problem } from '../../provider/protocol/problem.ts'

/** Ends a request with this problem. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}
