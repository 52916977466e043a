import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Bounds } from '../../../web/api-types.ts'
import { gridOf } from '../../../web/map/grid.ts'

const namesIn = (bounds: Bounds) => gridOf(bounds).flatMap(({ properties }) => properties?.name ?? [])

test.each<[string, Bounds, string[]]>([
  ['a field', [38.495, 9.495, 38.545, 9.535], ['9.50° N', '9.52° N', '38.50° E', '38.52° E', '38.54° E']],
  ['south and west', [-1.2, -0.6, 0.2, 0.6], ['0.5° S', '0.0° N', '0.5° N', '1.0° W', '0.5° W', '0.0° E']],
])('names the round degrees of %s', (_, bounds, names) => {
  expect(namesIn(bounds)).toEqual(names)
})

test('wherever a map is, it has a few lines each way', () => {
  const from = { noNaN: true, min: -80, max: 79 }
  const span = fc.double({ noNaN: true, min: 1e-4, max: 1 })
  fc.assert(
    fc.property(fc.double(from), fc.double(from), span, (west, south, side) => {
      const names = namesIn([west, south, west + side, south + side])
      for (const ends of [/[NS]$/, /[EW]$/]) {
        const lines = names.filter((name) => ends.test(name)).length
        expect(lines).toBeGreaterThanOrEqual(2)
        expect(lines).toBeLessThanOrEqual(6)
      }
    }),
  )
})
