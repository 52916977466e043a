import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  DEMO_POSITIONS,
  DEMO_QUANTITIES,
  type DemoQuantity,
  demoOdds,
  demoPosition,
  demoRange,
  demoValue,
  findLikeliest,
} from '#src/ingest/demo/formula.ts'
import { demoTerrain } from '#src/ingest/demo/outlines.ts'
import { describeLand, type Land } from '#src/ingest/demo/relief.ts'
import {
  COUNTRIES,
  correlation,
  everywhere,
  findLikeness,
  findPatches,
  landsOf,
  mean,
  placesOf,
  QUANTITIES,
  SEASONS,
  WHEAT,
} from './likeness.ts'

describe('the demo is made by a formula', () => {
  const DIGEST = '311be4a26dd8c4dfeea1b1543387f89f832e09a7950bf1ec038c0b4b4539040c'
  const hasPython = spawnSync('python3', ['--version']).status === 0

  test('that has the same bits on every machine, those of another language among them', () => {
    const terrain = { ...demoTerrain('eth'), bounds: [33, 3, 48, 15] as [number, number, number, number] }
    const compost = DEMO_QUANTITIES['isfm eth wheat']?.[0] as DemoQuantity
    const numbers = Array.from({ length: 2000 }, (_, place) => {
      const land = describeLand(terrain, 33 + (place % 50) * 0.3, 3 + Math.floor(place / 50) * 0.3)
      const values = [WHEAT, compost].flatMap((quantity) =>
        SEASONS.toReversed().map((season) => demoValue(quantity, season, land)),
      )
      return [land.coolness, land.moisture, land.x, land.y, ...values]
    })
    const bytes = new Uint8Array(Float64Array.from(numbers.flat()).buffer)
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(DIGEST)
  })

  test.skipIf(!hasPython)('and Python computes them', () => {
    expect(execFileSync('python3', [join(import.meta.dirname, 'relief.py')], { encoding: 'utf8' })).toBe(
      DIGEST,
    )
  })
})

describe('the relief looks like land', () => {
  test.each(COUNTRIES)('%s is higher inside than at its borders', (country) => {
    const rows = landsOf(country, country === 'rwa' ? 5 : 2)
    const isInner = (y: number, x: number) =>
      [-1, 1].every(
        (side) => rows[y + side * (rows.length >> 2)]?.[x] && rows[y]?.[x + side * (rows.length >> 2)],
      )
    const heights = (inner: boolean) =>
      rows.flatMap((row, y) =>
        row.flatMap((land, x) => (land && isInner(y, x) === inner ? [land.coolness] : [])),
      )
    expect(mean(heights(true))).toBeGreaterThan(mean(heights(false)))
  })

  test('Ethiopia and Rwanda are highlands, Kenya is lower and Ghana low', () => {
    const heights = Object.fromEntries(
      COUNTRIES.map((country) => [country, mean(placesOf(country, 5).map(({ coolness }) => coolness))]),
    ) as Record<'eth' | 'gha' | 'ken' | 'rwa', number>
    expect(Math.min(heights.eth, heights.rwa)).toBeGreaterThan(heights.ken)
    expect(heights.ken).toBeGreaterThan(2 * heights.gha)
  })

  test('Rwanda is hilly everywhere: heights differ by 100 m and more within a fifth of a degree', () => {
    const heights = new Map<string, number[]>()
    landsOf('rwa', 2).forEach((row, y) => {
      row.forEach((land, x) => {
        const square = `${Math.floor(y / 10)} ${Math.floor(x / 10)}`
        if (land) heights.set(square, [...(heights.get(square) ?? []), land.coolness])
      })
    })
    const squares = [...heights.values()].filter(({ length }) => length > 60)
    expect(squares.length).toBeGreaterThan(40)
    expect(Math.min(...squares.map((square) => Math.max(...square) - Math.min(...square)))).toBeGreaterThan(
      100,
    )
  })

  test.each(COUNTRIES)('neighbouring pixels of %s are alike, and not the same', (country) => {
    const [species] = DEMO_QUANTITIES.forage as [DemoQuantity]
    const values = landsOf(country, 1).map((row) =>
      row.map((land) => land && demoValue(species, 'Normal', land)),
    )
    const steps = values.flatMap((row, y) =>
      row.flatMap((value, x) =>
        [row[x + 1], values[y + 1]?.[x]].flatMap((next) =>
          value === null || next === null || next === undefined ? [] : [Math.abs(next - value)],
        ),
      ),
    )
    steps.sort((a, b) => a - b)
    const stepBelow = (share: number) => steps[Math.floor(share * steps.length)] as number
    expect([stepBelow(0.5) > 0.002, stepBelow(0.5) < 0.03, stepBelow(0.95) < 0.1]).toEqual([true, true, true])
  })

  test.each(COUNTRIES)(
    'nothing in %s repeats itself at a distance, as a chessboard of waves does',
    (country) => {
      const lands = landsOf(country, country === 'gha' ? 4 : 6)
      for (const species of (DEMO_QUANTITIES.forage ?? []).slice(0, 3)) {
        const values = lands.map((row) => row.map((land) => land && demoValue(species, 'Normal', land)))
        expect(findLikeness(values)).toBeLessThan(0.6)
      }
      const waves = lands.map((row, y) =>
        row.map((land, x) => land && Math.sin((2 * Math.PI * x) / 9) * Math.cos((2 * Math.PI * y) / 11)),
      )
      expect(findLikeness(waves)).toBeGreaterThan(0.9)
    },
  )
})

describe('values', () => {
  test.each(QUANTITIES)(
    '$name lie in their range, at steps, and differ from place to place',
    ({ quantity }) => {
      const [low, high] = quantity.range
      const values = everywhere.map((land) => demoValue(quantity, 'Normal', land))
      expect(values.filter((value) => value < low || value > high)).toEqual([])
      expect(
        values.filter((value) => Math.abs(value / quantity.step - Math.round(value / quantity.step)) > 1e-9),
      ).toEqual([])
      expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(0.5 * (high - low))
    },
  )

  test.each(QUANTITIES)('$name follow the season as far as they respond', ({ quantity }) => {
    const rise = Math.sign(quantity.response)
    const wrong = everywhere.filter((land) => {
      const [worse, normal, better] = SEASONS.map((season) => demoValue(quantity, season, land)) as [
        number,
        number,
        number,
      ]
      const steps = [rise * (normal - worse), rise * (better - normal)]
      if (rise === 0) return worse !== normal || better !== normal
      return quantity.response === 1 ? !steps.every((step) => step > 0) : !steps.every((step) => step >= 0)
    })
    expect(wrong).toEqual([])
  })

  test('dry places respond more to a season than wet ones', () => {
    const losses = everywhere.map((land) => {
      const [worse, normal] = SEASONS.map((season) => demoValue(WHEAT, season, land)) as [number, number]
      return [land.moisture, (normal - worse) / normal] as const
    })
    expect(correlation(losses)).toBeLessThan(-0.99)
    expect(Math.max(...losses.map(([, loss]) => loss))).toBeGreaterThan(
      1.5 * Math.min(...losses.map(([, loss]) => loss)),
    )
  })

  test('no two quantities of a country have the same pattern', () => {
    const lands = placesOf('eth', 5)
    const patterns = QUANTITIES.filter(({ name }) => /eth|forage/.test(name)).map(({ quantity }) =>
      lands.map((land) => demoValue(quantity, 'Normal', land)),
    )
    const alike = patterns.flatMap((pattern, index) =>
      patterns
        .slice(index + 1)
        .map((other) => correlation(pattern.map((value, at) => [value, other[at] as number]))),
    )
    expect(Math.max(...alike)).toBeLessThan(0.95)
  })
})

describe('the odds of the season', () => {
  test('are whole percents from 5 to 80 that sum to 100', () => {
    const odds = everywhere.map((land) => Object.values(demoOdds(land)))
    expect(odds.filter((three) => three.reduce((sum, one) => sum + one) !== 100)).toEqual([])
    expect(odds.flat().filter((one) => !Number.isInteger(one) || one < 5 || one > 80)).toEqual([])
  })

  test.each(COUNTRIES)(
    'change in %s over degrees, and make each season the most likely somewhere',
    (country) => {
      const rows = landsOf(country, country === 'rwa' ? 10 : 2).map((row) =>
        row.map((land) => land && demoOdds(land)),
      )
      const changes = rows.flatMap((row, y) =>
        row.flatMap((odds, x) =>
          [row[x + 1], rows[y + 1]?.[x]].flatMap((next) =>
            odds && next
              ? Object.entries(odds).map(([season, percent]) => Math.abs(next[season as 'Normal'] - percent))
              : [],
          ),
        ),
      )
      // A tenth of a degree.
      expect(Math.max(...changes)).toBeLessThanOrEqual(10)
      const likeliest = rows
        .flat()
        .flatMap((odds) => (odds ? [Object.entries(odds).sort((a, b) => b[1] - a[1])[0]?.[0]] : []))
      expect(new Set(likeliest).size).toBe(3)
    },
  )

  test('make the greatest the likeliest season, and of equal ones Normal', () => {
    const ties = everywhere.map(demoOdds).filter(({ Normal, ...others }) => {
      return Math.max(...Object.values(others)) === Normal
    })
    expect(ties.length).toBeGreaterThan(10)
    expect(ties.filter((odds) => findLikeliest(odds) !== 'Normal')).toEqual([])
    const wrong = everywhere
      .map(demoOdds)
      .filter((odds) => odds[findLikeliest(odds)] !== Math.max(...Object.values(odds)))
    expect(wrong).toEqual([])
  })
})

describe('the range of a value', () => {
  test.each(QUANTITIES)('$name: contains the value and both ends are steps', ({ quantity }) => {
    const isStep = (value: number) =>
      Math.abs(value / quantity.step - Math.round(value / quantity.step)) < 1e-9
    const most = quantity.response === 0 ? quantity.range[1] : Number.POSITIVE_INFINITY
    const wrong = SEASONS.flatMap((season) =>
      everywhere.filter((land) => {
        const value = demoValue(quantity, season, land)
        const { low, high } = demoRange(quantity, season, land)
        // Rasters have 32 bits.
        const contains = Math.fround(low) < Math.fround(value) && Math.fround(value) < Math.fround(high)
        return low < 0 || !contains || high > most || !isStep(low) || !isStep(high)
      }),
    )
    expect(wrong).toEqual([])
  })

  test('is wider where it is dry', () => {
    const widths = everywhere.map((land) => {
      const { low, high } = demoRange(WHEAT, 'Normal', land)
      return [land.moisture, (high - low) / demoValue(WHEAT, 'Normal', land)] as const
    })
    expect(correlation(widths)).toBeLessThan(-0.99)
  })

  test('has no width where there is no value', () => {
    const none: DemoQuantity = { ...WHEAT, range: [0, 0] }
    expect(demoRange(none, 'Normal', everywhere[0] as Land)).toEqual({ low: 0, high: 0 })
  })
})

describe('the position on the slope', () => {
  test.each(COUNTRIES)('is each of three on a fifth to nine twentieths of %s, in patches', (country) => {
    const rows = landsOf(country, 1).map((row) => row.map((land) => land && demoPosition(land)))
    const positions = rows.flat().filter((position) => position !== null)
    for (const { value } of DEMO_POSITIONS) {
      const share = positions.filter((position) => position === value).length / positions.length
      expect([share >= 0.2, share <= 0.45]).toEqual([true, true])
    }
    const inPatches = findPatches(rows).filter((size) => size >= 10)
    expect(inPatches.reduce((sum, size) => sum + size) / positions.length).toBeGreaterThan(0.95)
  })

  test('raises the rate of a fertilizer from the foot of the slope to the hill', () => {
    const urea = DEMO_QUANTITIES['fertilizer eth wheat']?.[1] as DemoQuantity
    const wrong = everywhere.filter((land) => {
      const [foot, mid, hill] = DEMO_POSITIONS.map(({ rateFactor }) =>
        demoValue(urea, 'Normal', land, rateFactor),
      ) as [number, number, number]
      const { low, high } = demoRange(urea, 'Normal', land, 1.2)
      const isNear = Math.abs(foot - 0.85 * mid) < 1 && Math.abs(hill - 1.2 * mid) < 1.2
      return mid !== demoValue(urea, 'Normal', land) || !isNear || low >= hill || high <= hill
    })
    expect(wrong).toEqual([])
  })
})
