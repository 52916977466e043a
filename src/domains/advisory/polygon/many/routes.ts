import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DHIS2 } from '#schemas/dhis2.ts'
import type { PlainPolygonsRequest, PolygonsRequest, PolygonsSchemas } from '#schemas/polygons.ts'
import type { PolygonsForms } from '#schemas/polygons-forms.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, isFileType } from '#src/http/attachment.ts'
import { givingBack } from '#src/http/collected-body.ts'
import { untilGone } from '#src/http/deadline.ts'
import { mediaTypeOf } from '#src/http/forms.ts'
import { ignoredMember } from '#src/http/ignored.ts'
import { partyOf } from '#src/http/party.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { WorkInRelease } from '../../lookup/answering.ts'
import type { Lookup } from '../../lookup/lookup.ts'
import { withReleaseNamed } from '../../lookup/pinned-request.ts'
import { seriesOf } from '../../lookup/series.ts'
import { createSources, releasesOf } from '../../lookup/sources.ts'
import type { QuantityRules, ReadRules } from '../../quantities/rules.ts'
import type { AreaAdvisor } from '../area-advisor.ts'
import { GEOJSON } from '../body.ts'
import type { AdviseInTime } from '../computing.ts'
import { countryOf, refuseUnlessOne } from '../country.ts'
import type { PolygonAdvisor } from '../polygon-advisor.ts'
import type { AreaSelection } from '../queries.ts'
import { wantedIn } from '../wanted.ts'
import { withFirst, writeAnswer } from './answer.ts'
import { refuseUnknownAreas } from './areas.ts'
import { polygonsBodyReader, readLongJson } from './body.ts'
import { dataValueWriter, quantitiesRefused } from './data-values.ts'
import { documentationOf } from './documented.ts'
import { type AnswerForm, answerFormOf } from './forms.ts'
import { type Placed, placePolygons, refuseSeveral } from './placing.ts'
import { featuresOf, readPolygon, type SentPolygon, sizeOf } from './sent.ts'
import { type ItemSource, itemsOfAreas, itemsOfPolygons } from './sources.ts'
import { createWriter, type Writer } from './writers.ts'

type Call = FastifyRequest<{ Body: PolygonsRequest | PlainPolygonsRequest }>

/** An answer of which the first piece is there. */
interface Begun {
  releases: string[]
  first: IteratorResult<Buffer>
  pieces: AsyncGenerator<Buffer>
}

export interface ManyOptions {
  lookup: Lookup
  schemas: PolygonsSchemas<ProductDefinition>[]
  forms: PolygonsForms
  polygonAdvisor: PolygonAdvisor
  areaAdvisor: AreaAdvisor
  adviseInTime: AdviseInTime
  readRules: ReadRules
}

/** The endpoints that answer for many polygons or areas in one call. Their bodies are read here, not by the app. */
export async function manyRoutes(app: App, options: ManyOptions): Promise<void> {
  const { lookup, polygonAdvisor, areaAdvisor, adviseInTime, readRules } = options
  const bodyLimit = readLongJson(app)
  const db = app.database.reader

  for (const schemas of options.schemas) {
    const { product, request } = schemas
    let answered = 0
    app.metrics.observe('agro_batch_polygons_total', () => answered, { product: product.code })
    const read = polygonsBodyReader(request)

    async function handle(call: Call, reply: FastifyReply): Promise<FastifyReply> {
      const form = answerFormOf(call, reply)
      const { body } = call
      refuseUnlessOne('polygons', body)
      const sentFor = { ...body, country_code: countryOf(body) }
      const asked = await withReleaseNamed(lookup, product, sentFor, call, reply)
      if (body.admin) await inTime(call, reply, () => lookup.places.fillCrop(asked))
      const series = seriesOf(product, asked)
      const selection = body.admin && selectionOf(body.admin)
      const wanted = wantedIn(body)
      if (wanted && wanted.bins > 0 && (isFileType(form) || form === DHIS2)) throw tooDeep()
      const rules = await inTime(call, reply, () => readRules(body, [product], 'polygons'))
      if (rules && form === DHIS2) throw quantitiesRefused(body)
      const [party, gone] = [partyOf(call), untilGone(reply)]
      const pause = () => app.turns.next(party, gone)
      const sent = await takePolygons(call, pause)
      const wait: Wait = (something) => inTime(call, reply, something)
      const waitInTurn: Wait = (something) => app.inTurn(call, reply, something)
      const goOnInTurn: Wait = (something) => app.goOnInTurn(call, reply, something)

      const begin: WorkInRelease<Begun> = async (snapshot, release) => {
        if (selection) await waitInTurn(() => refuseUnknownAreas(db, snapshot, selection))
        const sources = createSources(product, asked, snapshot, release)
        const placed = await placePolygons(lookup, snapshot, sources, sent, { party, wait, pause })
        const writer = writerFor(form, product, placed, wanted, rules, call)
        const source: ItemSource = {
          reasons: lookup.reasons,
          snapshot,
          series,
          party,
          wait,
          release: placed.release,
          wanted,
          inTime: (advise) => adviseInTime(call, reply, advise, true),
          pause,
          waitInTurn,
          goOnInTurn,
          withShapes: form === GEOJSON,
          // It would seem whole to DHIS2, which does not read why the rest is missing.
          cutAtFault: form === DHIS2,
        }
        const items = selection
          ? itemsOfAreas(source, areaAdvisor, db, selection)
          : itemsOfPolygons(source, polygonAdvisor, placed.polygons)
        const counted = counting(items, () => answered++)
        const written = writeAnswer(counted, writer, pause)
        const pieces = selection ? written : givingBack(call.place, () => sizeOf(placed.polygons), written)
        return { releases: releasesOf(placed.sources), first: await pieces.next(), pieces }
      }
      const { releases, first, pieces } = await lookup.inRelease(series, begin, wait)
      // Nothing begins anew any more: what is left is in one list, and each polygon is let go of with its room.
      sent.length = 0
      reply.header('advisory-release', releases.join(', ')).type(mediaTypeOf(form))
      const file = releases.length === 1 ? releases[0] : product.code
      if (isFileType(form)) attach(reply, form, `${file}-polygons`)
      return reply.send(Readable.from(withFirst(first, pieces)))
    }

    app.route({
      method: 'POST',
      url: `/${product.code}/polygons`,
      bodyLimit,
      config: { scope: 'advisory', longBody: true, ownTurns: true, preferences: ['handling=strict'] },
      schema: documentationOf(schemas, options.forms),
      preValidation: async (call, reply) => read(call, reply),
      handler: handle,
    })
  }
}

function writerFor(
  form: AnswerForm,
  product: ProductDefinition,
  { sources, release }: Placed,
  wanted: DistributionWanted | null,
  rules: QuantityRules | null,
  call: Call,
): Writer {
  if (form !== DHIS2) return createWriter(form, product, sources, wanted, rules, ignoredMember(call))
  refuseSeveral(sources)
  return dataValueWriter(product, release, wanted, call.body.dhis2)
}

function selectionOf({ country_code, level, parent }: NonNullable<PolygonsRequest['admin']>): AreaSelection {
  return { countryCode: country_code.trim().toLowerCase(), level, parent: parent?.trim() ?? null }
}

/** Reads the polygons of a call, and lets go of what was sent. */
async function takePolygons(call: Call, pause: Pause): Promise<SentPolygon[]> {
  const { body } = call
  if (body.admin) return []
  const features = featuresOf(body.polygons)
  body.polygons = undefined
  const polygons: SentPolygon[] = []
  for (const [index, feature] of features.entries()) {
    await pause()
    polygons.push(readPolygon(call, feature))
    features[index] = undefined
  }
  return polygons
}

function tooDeep(): ApiError {
  return ApiError.invalid(
    'histogram',
    'must be left out for CSV, GeoJSON and DHIS2, which have no columns for it',
  )
}

async function* counting<Item>(items: AsyncIterable<Item>, count: () => void): AsyncGenerator<Item> {
  for await (const item of items) {
    count()
    yield item
  }
}
