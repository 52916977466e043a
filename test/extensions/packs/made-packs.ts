import { inflateRawSync } from 'node:zlib'
import {
  findPackArea,
  type PackContent,
  type PackSources,
  readPackContent,
} from '#src/extensions/packs/content.ts'
import { type PackVersion, writePackHtml } from '#src/extensions/packs/html.ts'
import { answerAt, decodePack, isInPack, type Pack } from '#src/extensions/packs/reading.ts'
import { createLookup } from '#src/lookup/lookup.ts'
import type { TestApp } from '#test/setup/app.ts'
import { call } from '#test/setup/calls.ts'
import { createRandom } from '#test/setup/random.ts'

export const MADE_AT = new Date('2026-08-01T09:30:00Z')

interface MadePack {
  content: PackContent
  html: Buffer
  /** As the page reads it. */
  pack: Pack
}

/** Makes the pack of an area, as the service would. */
export async function makePack(
  { app }: Pick<TestApp, 'app'>,
  countryCode: string,
  code: string,
  version: PackVersion | null = null,
): Promise<MadePack> {
  const lookup = createLookup(app)
  const sources: PackSources = { app, lookup, pause: async () => {} }
  return lookup.inSnapshot(async (snapshot) => {
    const area = await findPackArea(sources, snapshot, { countryCode, code, level: null })
    const content = await readPackContent(sources, snapshot, area, MADE_AT)
    const html = await writePackHtml(sources, content, version)
    return { content, html, pack: readHtml(html) }
  })
}

export function readHtml(html: Buffer): Pack {
  const [, data = ''] = /<script type="text\/plain" id="pack">([^<]*)</.exec(html.toString()) ?? []
  return decodePack(inflateRawSync(Buffer.from(data, 'base64')))
}

/** Places in the area of a pack with as many decimals as people send. */
export function drawPlaces(pack: Pack, count: number, seed = 1): { lat: number; lng: number }[] {
  const random = createRandom(seed)
  const [west, south, east, north] = pack.area.bbox
  const places: { lat: number; lng: number }[] = []
  while (places.length < count) {
    const lng = Number((west + random() * (east - west)).toFixed(6))
    const lat = Number((south + random() * (north - south)).toFixed(6))
    if (isInPack(pack, { longitude: lng, latitude: lat })) places.push({ lat, lng })
  }
  return places
}

interface Asked {
  lat: number
  lng: number
  condition?: string
}

/** Answers of the service and of a pack where they differ, member by member. */
export async function differences(
  { app }: Pick<TestApp, 'app'>,
  pack: Pack,
  places: Asked[],
  crop = pack.crops[0] as string,
): Promise<string[]> {
  const differing: string[] = []
  for (const place of places) {
    const request = { ...place, crop }
    const payload = { ...request, country_code: pack.area.countryCode }
    const answer = await call(app, 'POST /advisory/point', { payload })
    const found = answerAt(pack, request)
    const texts = [
      `${answer.status} ${JSON.stringify({ ...answer.body, location: undefined })}`,
      `${found?.status} ${JSON.stringify({ ...found?.body, location: undefined })}`,
    ]
    if (texts[0] !== texts[1]) differing.push([JSON.stringify(place), ...texts].join('\n'))
  }
  return differing.slice(0, 3)
}
