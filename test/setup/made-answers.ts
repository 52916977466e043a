import { vi } from 'vitest'
import { type Called, call } from './calls.ts'
import { PATIENCE } from './patience.ts'

/** The answer other than a 503: a service says that while a file is being made, or a busy machine is not fast enough. */
export const callUntilMade: typeof call = (...called) => {
  const ask = async () => {
    const answer = await call(...called)
    return answer.status !== 503 && answer
  }
  return vi.waitUntil(ask, { ...PATIENCE, interval: 20 }) as Promise<Called>
}
