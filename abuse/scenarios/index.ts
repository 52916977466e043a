import type { Scenario } from '../scenario.ts'
import { logins, madeUpTokens, refreshTokens, registrationTiming } from './accounts.ts'
import { stalledUploads, unreadAnswers } from './batches.ts'
import { deepLists, halfOpen, unfinishedBodies } from './connections.ts'
import { historyGrowth, historyReads } from './history.ts'
import {
  coveragePages,
  documents,
  downloads,
  edrAreas,
  edrPositions,
  featurePages,
  mapTiles,
  packMemory,
  proofs,
} from './open-doors.ts'
import { combs, stars, tangles } from './polygons.ts'

/** What a service is attacked with, in this order: what is about its memory, while it has no more than it needs. */
export const SCENARIOS: Scenario[] = [
  unfinishedBodies,
  halfOpen,
  unreadAnswers,
  stalledUploads,
  combs,
  stars,
  tangles,
  edrAreas,
  featurePages,
  downloads,
  mapTiles,
  documents,
  edrPositions,
  coveragePages,
  packMemory,
  proofs,
  deepLists,
  logins,
  refreshTokens,
  madeUpTokens,
  registrationTiming,
  historyReads,
  historyGrowth,
]
