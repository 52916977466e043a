import { expect, test } from 'vitest'
import { FEATURE_READERS } from '#src/extensions/fields/reading.ts'
import { constantOf } from '#test/setup/page-constants.ts'

test('files of fields are sent with the media types that are read', () => {
  const types = constantOf('extensions/fields/account', 'MEDIA_TYPES') as Record<string, string>
  expect(Object.values(types).sort()).toEqual(Object.keys(FEATURE_READERS).sort())
})
