import { overloaded } from '#src/http/plugins/overload.ts'
import { ReplacedMeanwhile } from './replaced.ts'

/**
 * Does work in a release and boundaries that are known to be there.
 *
 * @throws {ApiError} OVERLOADED where they are being replaced: soon it will be known by what
 */
export async function whileThere<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ReplacedMeanwhile) throw overloaded()
    throw error
  }
}
