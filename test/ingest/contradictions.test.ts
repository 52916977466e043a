import { describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import { OUTLOOK, slopes } from '#test/advice/certainty/releases.ts'
import { openDatabase } from '#test/setup/open-service.ts'

const opened = openDatabase('empty')

/** The release with other pixels of a band, by its coverage and place. */
function withPixels(source: ReleaseSource, at: number, band: number, ...pixels: number[]): ReleaseSource {
  const coverages = source.coverages.map((coverage, index) => ({
    ...coverage,
    read: async (window: Parameters<typeof coverage.read>[0]) => {
      const all = await coverage.read(window)
      return index === at ? all.with(band, Float32Array.from(pixels)) : all
    },
  }))
  return { ...source, coverages }
}

describe('a load is refused at the first pixel that contradicts another, and nothing stays', () => {
  const named = slopes({ 1: 'foot slope', 3: 'hill' })
  test.each<[what: string, source: ReleaseSource, sentence: string]>([
    [
      'a value below its range',
      withPixels(OUTLOOK, 0, 4, 1500, 2500),
      'the test has 2400, below its low of 2500, at 38.75, 9.5.',
    ],
    [
      'a value above its range',
      withPixels(OUTLOOK, 0, 5, 1999, 2900),
      'the test has 2000, above its high of 1999, at 38.25, 9.5.',
    ],
    [
      'a negative standard deviation',
      withPixels(OUTLOOK, 0, 6, 100, -1),
      'the test has the standard deviation -1, below 0, at 38.75, 9.5.',
    ],
    [
      'a percentage taken for a probability',
      withPixels(OUTLOOK, 1, 0, 50, 5000),
      'the test has 50, which is no probability (0 to 1; a percentage has the unit %), at 38.875, 9.5.',
    ],
    [
      'odds that do not sum to 1',
      withPixels(OUTLOOK, 1, 1, 30, 33),
      'the test has with those of Above Normal, Normal, Below Normal the sum 1.03, not 1, at 38.875, 9.5.',
    ],
    [
      'a code without a condition',
      withPixels(named, 0, 4, 1, 2, -9999),
      'the test has the code 2, which means no condition (1, 3), at 38.75, 9.5.',
    ],
  ])('%s', async (_, source, sentence) => {
    await expect(loadRelease(opened.database, source)).rejects.toThrow(sentence)
    expect(await opened.database.writer.selectFrom('release').select('id').execute()).toEqual([])
  })
})

test('rounded odds, equal ends and pixels without a value are no contradiction', async () => {
  const rounded = withPixels(withPixels(OUTLOOK, 1, 1, 32, 28), 0, 4, 2000, -9999)
  const { published } = await loadRelease(opened.database, rounded)
  expect(published).toBe(true)
})
