import type { Scenario } from '../scenario.ts'
import { logins, madeUpTokens, refreshTokens, registrationTiming } from './accounts.ts'
import { stalledUploads, unreadAnswers } from './batches.ts'
import { deepLists, halfOpen, unfinishedBodies } from './connections.ts'
import {
  fieldAdvice,
  fieldMembers,
  largeFieldsCsv,
  largeFieldsGeojson,
  largeFieldUploads,
  manyFieldsGeojson,
  slowUploads,
} from './fields.ts'
import { historyGrowth, historyReads } from './history.ts'
import { messagesFlood, messagesLong, messagesMisspelt, messagesOfOne, messagesStop } from './messages.ts'
import {
  coveragePages,
  csvPacks,
  documents,
  downloads,
  edrAreas,
  edrPositions,
  featurePages,
  mapTiles,
  packMemory,
  packs,
  parquetPacks,
} from './open-doors.ts'
import { combs, stars, tangles } from './polygons.ts'
import { brokenLines, longCells, longNumbers, manyMembers } from './texts.ts'
import { webhookSilence, webhookUpgrades } from './webhooks.ts'

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
  parquetPacks,
  csvPacks,
  packs,
  mapTiles,
  documents,
  edrPositions,
  coveragePages,
  messagesFlood,
  messagesOfOne,
  messagesMisspelt,
  messagesLong,
  messagesStop,
  packMemory,
  deepLists,
  longCells,
  manyMembers,
  longNumbers,
  brokenLines,
  logins,
  refreshTokens,
  madeUpTokens,
  registrationTiming,
  historyReads,
  historyGrowth,
  slowUploads,
  largeFieldsCsv,
  largeFieldsGeojson,
  manyFieldsGeojson,
  fieldAdvice,
  largeFieldUploads,
  fieldMembers,
  webhookUpgrades,
  webhookSilence,
]
