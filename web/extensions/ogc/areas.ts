import type { Area } from '../../api-types.ts'
import type { AreaFigures, AreaSource } from '../../geo/areas.ts'
import { ApiFailure, addressOf, ask, get } from '../../shell/api.ts'

/** How far shapes may be from what they are: half a pixel of a map of a country. */
const COARSE_DEGREES = 0.008

/** The same where nobody looks at shapes: figures of areas come with some. */
const ROUGH_DEGREES = 5

/** As many as a page may have. */
const PAGE = 1000

interface AreaFeature {
  properties: Omit<Area, 'geometry'>
  geometry: Area['geometry']
}

interface AreaPage {
  features: AreaFeature[]
  links?: { rel: string; href: string }[]
}

interface FigurePage {
  features: { properties: AreaFigures }[]
  numberMatched: number
}

const areaOf = ({ properties, geometry }: AreaFeature): Area => ({ ...properties, geometry })

/** Areas as features of the OGC API. */
export const source: AreaSource = {
  async list(country, level) {
    const areas: Area[] = []
    const path = `ogc/collections/areas-${country}-${level}/items`
    try {
      let address = addressOf(path, { limit: PAGE, 'max-allowable-offset': COARSE_DEGREES })
      for (;;) {
        const page: AreaPage = await ask(address)
        areas.push(...page.features.map(areaOf))
        const next = page.links?.find(({ rel }) => rel === 'next')
        if (!next) return areas
        // The host may have another name for the service itself.
        address = new URL(new URL(next.href).search, addressOf(path))
      }
    } catch (error) {
      // Whatever is not there is not on the map.
      if (error instanceof ApiFailure && error.status === 404) return []
      throw error
    }
  },

  async find({ country_code, level, code }) {
    const path = `ogc/collections/areas-${country_code}-${level}/items/${encodeURIComponent(code)}`
    return areaOf(await get<AreaFeature>(path, { 'max-allowable-offset': COARSE_DEGREES }))
  },

  /** Pages end early where figures have to be computed first. */
  async figures(areas, { release }, progress) {
    const path = `ogc/collections/advisory-${release}-${areas[0]?.level}/items`
    const found = new Map<string, AreaFigures>()
    for (let offset = 0, all = areas.length; offset < all; ) {
      const query = { limit: PAGE, offset, 'max-allowable-offset': ROUGH_DEGREES }
      const page = await get<FigurePage>(path, query)
      for (const { properties } of page.features) found.set(properties.code, properties)
      // Fewer than there were: boundaries are being replaced.
      if (page.features.length === 0) break
      offset += page.features.length
      all = page.numberMatched
      progress(offset, all)
    }
    return found
  },
}
