import { expect, test } from 'vitest'
import { adviceOn } from '#src/data/embedded/cluster.ts'
import { describeFileError } from '#src/data/embedded/protocol.ts'

test.each([
  [51, 'ENOSPC: no space left on device', 'Make room there.'],
  [69, 'EROFS: read-only file system', 'Set DATA_DIR to one that can be written to.'],
])(
  'an error of files that has the number %i alone is said in words, with what to do',
  (errno, said, advice) => {
    expect(describeFileError({ name: 'ErrnoError', errno })).toBe(said)
    expect(adviceOn(said)).toBe(advice)
  },
)

test('other errors say what they say', () => {
  expect(describeFileError(new Error('PGlite failed to initialize properly'))).toBe(
    'PGlite failed to initialize properly',
  )
})
