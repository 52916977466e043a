import { expect } from 'vitest'
import { columnsOf } from '#test/advice/columns.ts'
import { itemTexts, type MediaType, rowsOf } from './forms.ts'

interface Sent {
  name?: string
  lat?: string | number
  lng?: string | number
}

/** What is answered about a point, as the point endpoint says it. */
export interface Item {
  sent?: Sent
  id?: string
  location?: { name: string; lat: number; lng: number }
  country_code?: string
  crop?: string | null
  forecast_period?: string
  forecast_month?: string
  release?: string
  synthetic?: boolean
  error?: string
  code?: string
  [entries: string]: unknown
}

function releaseMembersOf(item: Item) {
  const { country_code, crop = null, forecast_period, forecast_month, release, synthetic } = item
  const members = { country_code, crop, forecast_period, forecast_month, release, synthetic }
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  )
}

/** Of what `columnsOf` has: other columns are words without blanks. */
const isOfValues = (name: string) => / |^expected_|^condition(_source)?$/.test(name)

/** Expects that a body has these items, in order, as its form writes them. */
export function expectAnswer(mediaType: MediaType, body: string, items: Item[]): void {
  if (mediaType === 'text/csv') {
    const rows = rowsOf(body)
    expect(rows).toHaveLength(items.length)
    for (const [index, item] of items.entries()) expectRow(rows[index] as Record<string, string>, item)
  } else if (mediaType === 'application/geo+json') {
    const collection = JSON.parse(body)
    expect(collection.type).toBe('FeatureCollection')
    expect(collection.features).toHaveLength(items.length)
    for (const [index, item] of items.entries()) expectFeature(collection.features[index], item)
  } else {
    expect(itemTexts(mediaType, body)).toEqual(items.map((item) => JSON.stringify(item)))
  }
}

function expectRow(row: Record<string, string>, item: Item): void {
  const { id = '', location, sent, error = '', code = '' } = item
  const place: Sent | undefined = location ?? sent
  const isText = (cell: string | undefined, text: string) => expect([text, `'${text}`]).toContain(cell)
  isText(row.id, id)
  isText(row.name, place?.name ?? '')
  expect([row.lat, row.lng]).toEqual([place?.lat ?? '', place?.lng ?? ''].map(String))
  const { country_code, crop, forecast_period, forecast_month, release, synthetic } = row
  const members = { country_code, crop, forecast_period, forecast_month, release, synthetic }
  const said = Object.entries(members).filter(([, cell]) => cell)
  expect(said).toEqual(Object.entries(releaseMembersOf(item)).map(([name, value]) => [name, String(value)]))
  expect([row.error, row.code]).toEqual([error, code])
  const values = Object.entries(row).filter(([name, cell]) => isOfValues(name) && cell !== '')
  expect(values).toEqual(columnsOf(item).map(([name, value]) => [name, String(value)]))
}

function expectFeature(feature: Record<string, unknown>, item: Item): void {
  const { id, location, sent, error, code } = item
  const { properties, ...rest } = feature as { properties: Record<string, unknown> }
  expect(rest).toEqual({
    type: 'Feature',
    ...(id !== undefined && { id }),
    geometry: location ? { type: 'Point', coordinates: [location.lng, location.lat] } : null,
  })
  const { lat, lng, ...others } = properties
  expect({ lat, lng }).toEqual({ lat: sent?.lat, lng: sent?.lng })
  const said = Object.entries(others).filter(([, value]) => value !== null)
  expect(said.filter(([name]) => isOfValues(name))).toEqual(columnsOf(item))
  const labels = Object.fromEntries(said.filter(([name]) => !isOfValues(name)))
  expect(labels).toEqual({
    ...(location && { name: location.name }),
    ...(sent?.name !== undefined && { name: sent.name }),
    ...releaseMembersOf(item),
    ...(error && { error, code }),
  })
}
