import type { AreaReference } from '#src/domains/areas/queries.ts'
import type { App } from '#src/http/app.ts'
import type { Party } from '#src/lib/fair-line.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { RegionQuestion } from '../lookup/advice-desk.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { Placeable } from '../lookup/places.ts'
import { seriesOf } from '../lookup/series.ts'
import { type AreaAdvisor, createAreaAdvisor } from './area-advisor.ts'
import { type AdviseInTime, createComputing, type Waiting } from './computing.ts'
import type { Outline } from './geometry.ts'
import { interiorPointOf } from './interior-point.ts'
import type { Advice } from './location.ts'
import { createPolygonAdvisor, type PolygonAdvisor } from './polygon-advisor.ts'
import { createReleaseStatistics } from './release-statistics.ts'
import { rememberStatistics } from './remembered-statistics.ts'

/** What answers for polygons and areas: one of each is enough for all who ask, who wait in one line. */
export interface Advisors {
  polygonAdvisor: PolygonAdvisor
  areaAdvisor: AreaAdvisor
  adviseInTime: AdviseInTime
  adviseOn: AdviseOn
}

interface Question {
  product: ProductDefinition
  /** Gets the country that a polygon lies in, and its crop, where they are left out. */
  asked: RegionQuestion & Placeable
  wanted: DistributionWanted | null
  party: Party
}

/** Advises on a polygon or an area. */
type AdviseOn = (where: Outline | AreaReference, question: Question, waiting: Waiting) => Promise<Advice>

/** Makes {@link AdviseOn}. */
function createAdviseOn(
  { places }: Lookup,
  polygonAdvisor: PolygonAdvisor,
  areaAdvisor: AreaAdvisor,
): AdviseOn {
  return async (where, { product, asked, wanted, party }, waiting) => {
    if (!('polygons' in where)) return areaAdvisor.advise(seriesOf(product, asked), where, wanted, waiting)
    const position = interiorPointOf(where.polygons)
    await waiting.wait(() => places.fill(asked, position, party))
    return polygonAdvisor.advise(seriesOf(product, asked), where.polygons, wanted, waiting)
  }
}

export function createAdvisors(app: App, lookup: Lookup): Advisors {
  const { database, config, logFailure } = app
  const statisticsIn = createReleaseStatistics(database.reader)
  const remembered = rememberStatistics()
  const polygonAdvisor = createPolygonAdvisor(
    database,
    lookup,
    statisticsIn,
    remembered,
    config.RELEASE_MAX_AGE_MS,
  )
  const areaAdvisor = createAreaAdvisor(database, lookup, statisticsIn, remembered, logFailure)
  return {
    polygonAdvisor,
    areaAdvisor,
    adviseInTime: createComputing(app),
    adviseOn: createAdviseOn(lookup, polygonAdvisor, areaAdvisor),
  }
}
