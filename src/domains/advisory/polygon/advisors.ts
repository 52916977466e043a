import type { App } from '#src/http/app.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { type AreaAdvisor, createAreaAdvisor } from './area-advisor.ts'
import { type AdviseInTime, createComputing } from './computing.ts'
import { createPolygonAdvisor, type PolygonAdvisor } from './polygon-advisor.ts'
import { createReleaseStatistics } from './release-statistics.ts'
import { rememberStatistics } from './remembered-statistics.ts'

/** What answers for polygons and areas: one of each is enough for all who ask, who wait in one line. */
export interface Advisors {
  polygonAdvisor: PolygonAdvisor
  areaAdvisor: AreaAdvisor
  adviseInTime: AdviseInTime
}

export function createAdvisors(app: App, lookup: Lookup): Advisors {
  const { database, config, logFailure } = app
  const statisticsIn = createReleaseStatistics(database.reader)
  const remembered = rememberStatistics()
  return {
    polygonAdvisor: createPolygonAdvisor(
      database,
      lookup,
      statisticsIn,
      remembered,
      config.RELEASE_MAX_AGE_MS,
    ),
    areaAdvisor: createAreaAdvisor(database, lookup, statisticsIn, remembered, logFailure),
    adviseInTime: createComputing(app),
  }
}
