/** For what is the same on both databases, and dear on the embedded one, in files that run on both. */
import { describe, test } from 'vitest'

const isEmbedded = process.env.TEST_DATABASE_KIND === 'embedded'

export const testOnServer = test.skipIf(isEmbedded)
export const describeOnServer = describe.skipIf(isEmbedded)
