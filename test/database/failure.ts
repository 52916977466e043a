import { expect } from 'vitest'

/** Why something failed, which it has to. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  return error
}
