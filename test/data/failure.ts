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

/**
 * What the embedded database crashes on: an overlay of a geometry that is not valid unwinds the WASM code in the middle.
 * A condition of SQL.
 */
export const CRASHING = `st_intersection(
  'POLYGON((0 0,1 1,1 0,0 1,0 0))'::geometry, 'POLYGON((0 0,2 0,2 2,0 2,0 0))'::geometry) is not null`
