import type { App } from '#src/http/app.ts'
import { partyOf } from '#src/http/party.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { createLocationValidator } from './location/validator.ts'
import type { AdviceDesk } from './lookup/advice-desk.ts'
import type { Lookup } from './lookup/lookup.ts'
import { releaseMembers } from './lookup/products.ts'
import { allProductsAnswerer } from './point/all-products.ts'
import { productAnswerer } from './point/answer.ts'
import type { Advisors } from './polygon/advisors.ts'
import { entriesOf } from './polygon/entries.ts'
import { readGeoJson, soleFeature } from './polygon/geometry.ts'
import { locationOf } from './polygon/location.ts'
import type { ReadRules } from './quantities/rules.ts'

/** Makes what answers as the endpoints do, of the same parts. */
export function createAdviceDesk(
  app: App,
  lookup: Lookup,
  advisors: Advisors,
  readRules: ReadRules,
): AdviceDesk {
  const { adviseOn, adviseInTime } = advisors
  const { list } = app.products
  const validator = createLocationValidator(app.database.reader, lookup, list)
  const ofAll = allProductsAnswerer(list, readRules)
  const ofOne = new Map(list.map((product) => [product, productAnswerer(product, readRules)]))

  return {
    async atPoint(product, point, { request, reply }) {
      const answerer = (product && ofOne.get(product)) ?? ofAll
      const fromDatabase = () => answerer.answer(lookup, point, partyOf(request))
      const found = answerer.fromMemory(lookup, point) ?? (await inTime(request, reply, fromDatabase))
      if (found instanceof Error) throw found
      return found.body
    },
    async whereIs(place, { request, reply }) {
      const fromDatabase = () => validator.validate(place, partyOf(request))
      return validator.fromMemory(place) ?? inTime(request, reply, fromDatabase)
    },
    async inRegion(product, region, question, { request, reply }) {
      const where =
        'geometry' in region ? readGeoJson(soleFeature({ value: region.geometry, at: region.at })) : region
      const asked = { ...question }
      await inTime(request, reply, () => lookup.places.fillCrop(asked))
      const advice = await adviseInTime(request, reply, (waiting) =>
        adviseOn(where, { product, asked, wanted: null, party: partyOf(request) }, waiting),
      )
      return {
        location: locationOf(undefined, advice),
        ...releaseMembers(advice.release),
        [product.entries]: entriesOf(product, advice.release, advice.statistics),
      }
    },
  }
}
