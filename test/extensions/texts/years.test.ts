import { describe, expect, test } from 'vitest'
import { yieldPrediction } from '#schemas/products/yield.ts'
import { composeText } from '#src/extensions/texts/compose.ts'
import { textsIn } from '#src/extensions/texts/languages.ts'
import { openService } from '#test/setup/open-service.ts'
import { rectangle } from '#test/setup/square.ts'

const service = openService()

const ETHIOPIA = { country: 'eth', crop: 'wheat', west: 33.2, south: 3.6, east: 47.6, north: 14.6 }
const RWANDA = { country: 'rwa', crop: 'potato', west: 28.9, south: -2.8, east: 30.8, north: -1.1 }

describe.each([ETHIOPIA, RWANDA])('the odds of all places of a grid over $country', (area) => {
  test('add up to ten years in texts', async () => {
    let counted = 0
    for (const { lat, lng } of placesIn(area)) {
      const query = `lat=${lat}&lng=${lng}&country_code=${area.country}&crop=${area.crop}`
      const { status, text } = await service.get(`/advisory/yield/point?${query}&format=text&max_segments=5`)
      if (status !== 200) continue
      counted++
      expect(sumOf(text), text).toBe(10)
    }
    expect(counted).toBeGreaterThan(20)
  })

  test('add up in messages, each input by itself', async () => {
    const [{ lat, lng }] = [...placesIn(area, 3)].slice(4, 5) as [{ lat: number; lng: number }]
    const query = `lat=${lat}&lng=${lng}&country_code=${area.country}&crop=${area.crop}&format=text&max_segments=10`
    const { text, status } = await service.get(`/advisory/fertilizer/point?${query}`)
    expect(status).toBe(200)
    const inputs = [...new Set([...text.matchAll(/(Urea|DAP) /g)].map(([, input]) => input as string))]
    expect(inputs).toHaveLength(2)
    for (const input of inputs) {
      const own = text.split('; ').filter((part) => part.includes(`${input} `))
      expect(sumOf(own.join('; ')), text).toBe(10)
    }
  })
})

test('the odds of a field add up to ten years, as of a point', async () => {
  const geometry = rectangle(38.4, 9.4, 38.9, 9.9)
  const { body } = await service.post('/advisory/yield', {
    by: service.person,
    payload: { geometry },
  })
  const text = composeText([yieldPrediction], body, textsIn(), 9)
  expect(sumOf(text), text).toBe(10)
})

function* placesIn({ west, south, east, north }: typeof ETHIOPIA, across = 14) {
  for (let row = 0; row < across; row++) {
    for (let column = 0; column < across; column++) {
      const lat = south + ((north - south) * (row + 0.5)) / across
      const lng = west + ((east - west) * (column + 0.5)) / across
      yield { lat: Number(lat.toFixed(5)), lng: Number(lng.toFixed(5)) }
    }
  }
}

const SAID = /(less than|more than)? ?(\d+) of 10 years/g

/** The years that a text says in sum: "less than 1" is none, and "more than 9" all of them. */
const sumOf = (text: string) =>
  [...text.matchAll(SAID)].reduce((sum, [, bound, count]) => {
    const years = Number(count)
    return sum + (bound === undefined ? years : bound === 'less than' ? years - 1 : years + 1)
  }, 0)
