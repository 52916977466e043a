import { expect } from 'vitest'
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

/** What an item says of its release. */
function releaseMembersOf(item: Item) {
  const { country_code, crop = null, forecast_period, forecast_month, release, synthetic } = item
  const members = { country_code, crop, forecast_period, forecast_month, release, synthetic }
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  )
}

/** The values of an item by the columns that tables and features have for them. */
function columnsOf(item: Item): [string, number][] {
  const entries = Object.entries(item).find(([key]) => key.endsWith('_data'))?.[1] as object[] | null
  return (entries ?? []).map((entry) => {
    const value = Object.entries(entry).at(-1) as [string, number]
    return [[value[0], ...Object.values(entry).slice(0, -1)].join(' '), value[1]]
  })
}

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
  const values = Object.entries(row).filter(([name, cell]) => name.includes(' ') && cell !== '')
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
  const numbers = Object.entries(others).filter(([, value]) => typeof value === 'number')
  expect(numbers).toEqual(columnsOf(item))
  const labels = Object.fromEntries(
    Object.entries(others).filter(([, value]) => value !== null && typeof value !== 'number'),
  )
  expect(labels).toEqual({
    ...(location && { name: location.name }),
    ...(sent?.name !== undefined && { name: sent.name }),
    ...releaseMembersOf(item),
    ...(error && { error, code }),
  })
}
