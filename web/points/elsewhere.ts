import type { Area, Catalog } from '../api-types.ts'
import { boundsOf, contains, createAreas, outlinesOf } from '../geo/areas.ts'
import { releaseIn } from '../parts/choices.ts'
import { type Point, pauses } from '../parts/csv.ts'
import { NO_SERIES, type Series } from '../parts/series.ts'
import { element } from '../shell/element.ts'
import { points } from '../texts/en.ts'
import { nameIn, nameOfProduct } from '../texts/names.ts'

const { where } = points

/**
 * How many points lie in each country, the most first. Near a border it may be the neighbour: outlines are simplified.
 *
 * @param outlines of the countries
 */
async function countByCountry(points: Iterable<Point>, outlines: Area[]) {
  const counts = new Map<string, number>()
  const countries = outlines.map((area) => ({ area, bounds: boundsOf(area) }))
  const pause = pauses()
  for (const { lat, lng } of points) {
    await pause()
    if (typeof lat !== 'number' || typeof lng !== 'number') continue
    const country = countries.find(
      ({ area, bounds: [west, south, east, north] }) =>
        lng >= west && lng <= east && lat >= south && lat <= north && contains(area, { lat, lng }),
    )
    const code = country?.area.country_code
    if (code) counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([country, count]) => ({ country, count }))
}

const sum = (counts: { count: number }[]) => counts.reduce((total, { count }) => total + count, 0)

/**
 * Says where points lie that do not lie in the country that is chosen, and offers to choose theirs, or to swap latitude
 * and longitude where more lie in a country then.
 */
export function createElsewhere(catalog: Catalog, choose: (series: Series) => void, swap: () => void) {
  const place = element('div', { role: 'status' })
  const areasOf = createAreas(catalog)
  let counts: { country: string; count: number }[] = []
  let chosen = NO_SERIES
  let swapped = 0
  let all = 0
  let locates = 0

  /** @param series what is chosen */
  function offer(series: Series) {
    chosen = series
    const others = counts.filter(({ country }) => country !== series.country)
    const button = element('button', { type: 'button', onclick: swap }, where.swap)
    const notices = [
      swapped > sum(counts) && [where.swapped(swapped, all), element('div', { class: 'actions' }, button)],
      others.length > 0 && [said(), actionsOf(others)],
    ].filter((notice) => notice !== false)
    place.replaceChildren(
      ...notices.map(([text, actions]) =>
        element('div', { class: 'notice' }, element('p', {}, text ?? ''), actions),
      ),
    )
  }

  function said() {
    const [first, second] = counts.map(({ country, count }) => ({ count, name: nameOf(country) }))
    if (first && !second) return where.one(first.count, all, first.name)
    return where.several(counts.map(({ country, count }) => ({ count, name: nameOf(country) })))
  }

  function actionsOf(others: { country: string }[]) {
    const offers = others.flatMap(({ country }) => {
      const release = releaseIn(catalog, country, chosen)
      if (!release) return []
      const { product, crop } = release
      const text = where.use(nameOf(country), crop ? nameIn(catalog.crops, crop) : nameOfProduct(product))
      const onclick = () => choose({ product, country, crop, month: null })
      return element('button', { type: 'button', onclick }, text)
    })
    return element('div', { class: 'actions' }, ...offers)
  }

  const nameOf = (code: string) => nameIn(catalog.countries, code)

  async function locate(points: Point[]) {
    const mine = ++locates
    counts = []
    swapped = 0
    offer(chosen)
    const outlines = await outlinesOf(catalog, areasOf)
    const found = await countByCountry(points, outlines)
    const turned = points.map((point) => ({ ...point, lat: point.lng, lng: point.lat }))
    const foundTurned = await countByCountry(turned, outlines)
    // Another file may have been dropped meanwhile, or other columns chosen.
    if (mine !== locates) return
    counts = found
    swapped = sum(foundTurned)
    all = points.length
    offer(chosen)
  }

  return { place, offer, locate }
}
