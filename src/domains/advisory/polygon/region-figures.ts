import type { App } from '#src/http/app.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import type { Figures, FoundArea, RegionFigures } from '../lookup/region-figures.ts'
import { adviceFrom, type PolygonAdvice } from './advice.ts'
import type { Advisors } from './advisors.ts'
import { columnsOf, figuresIn } from './columns.ts'
import type { Waiting } from './computing.ts'
import { figureKeysOf } from './entries.ts'
import { readGeoJson } from './geometry.ts'
import { type AreaInRelease, listAreasInRelease, STATISTICS_VERSION } from './queries.ts'

/** Makes what says so for rooms that draw tables and maps. */
export function createRegionFigures({ database, products }: App, advisors: Advisors): RegionFigures {
  const { areaAdvisor, polygonAdvisor, adviseInTime } = advisors

  function figuresOf(release: PublishedRelease, advice: Pick<PolygonAdvice, 'statistics'>): Figures {
    const product = products.of(release.product)
    return figuresIn(product, release, figureKeysOf(product), advice)
  }

  function foundArea(release: PublishedRelease, area: AreaInRelease): FoundArea {
    const { code, version, statistics } = area
    return {
      code,
      version,
      stored: statistics && figuresOf(release, adviceFrom(release, statistics)),
      compute: async (request, reply) =>
        figuresOf(
          release,
          await adviseInTime(request, reply, (waiting) => areaAdvisor.adviseOn(area, release, null, waiting)),
        ),
    }
  }

  return {
    version: String(STATISTICS_VERSION),
    columnsOf(release) {
      const product = products.of(release.product)
      return columnsOf(product, release, figureKeysOf(product))
    },
    async find(release, { countryCode, level, after, count }) {
      const selection = { countryCode, level, parent: null }
      const areas = await listAreasInRelease(database.reader, selection, release.id, after, count)
      return areas.map((area) => foundArea(release, area))
    },
    async inPolygon(release, polygon, request, reply) {
      const { polygons } = readGeoJson(polygon)
      const advise = (waiting: Waiting) => polygonAdvisor.adviseIn(release, polygons, null, waiting)
      return figuresOf(release, await adviseInTime(request, reply, advise))
    },
  }
}
