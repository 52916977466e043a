import { parse } from 'csv-parse/sync'
import type { App } from '#src/http/app.ts'
import { call } from '#test/setup/calls.ts'

export const MEDIA_TYPES = [
  'application/json',
  'application/x-ndjson',
  'text/csv',
  'application/geo+json',
] as const
export type MediaType = (typeof MEDIA_TYPES)[number]

/** A point as a test means it; whatever is wrong with it can be said in every form. */
export interface TestPoint {
  id?: string | number
  lat?: number | string
  lng?: number
  name?: string
  [of_its_sender: string]: unknown
}

export interface Series {
  product: string
  country_code: string
  crop?: string
}

/** @param members of a JSON body, besides its points; in a table, points have no more than those of {@link TestPoint} */
export function bodyIn(mediaType: MediaType, points: TestPoint[], members: object = {}): string {
  switch (mediaType) {
    case 'application/json':
      return JSON.stringify({ points, ...members })
    case 'application/x-ndjson':
      return points.map((point) => JSON.stringify(point)).join('\n')
    case 'text/csv':
      return [
        'id,name,lat,lng',
        ...points.map(({ id, name, lat, lng }) =>
          [id, name, lat, lng]
            .map((cell) => (cell === undefined ? '' : `"${String(cell).replaceAll('"', '""')}"`))
            .join(','),
        ),
      ].join('\r\n')
    case 'application/geo+json':
      return JSON.stringify({
        type: 'FeatureCollection',
        features: points.map(({ id, lat, lng, ...properties }) => ({
          type: 'Feature',
          id,
          geometry: { type: 'Point', coordinates: lat === undefined ? [lng] : [lng, lat, 1200] },
          properties: Object.keys(properties).length === 0 ? null : properties,
        })),
      })
  }
}

export interface Sent {
  payload: string | Buffer
  type?: string
  accept?: string
  headers?: Record<string, string>
  query?: string
}

export function send(app: App, product: string, { payload, type, accept, headers, query = '' }: Sent) {
  return call(app, `POST /advisory/${product}/points${query}`, {
    headers: { ...headers, ...(type && { 'content-type': type }), ...(accept && { accept }) },
    payload,
  })
}

/** The items of an answer in JSON or NDJSON, as text. */
export function itemTexts(mediaType: MediaType, body: string): string[] {
  if (mediaType === 'application/x-ndjson') return body.split('\n').slice(0, -1)
  return (JSON.parse(body).items as unknown[]).map((item) => JSON.stringify(item))
}

/** The rows of an answer in CSV, read by somebody else's parser. */
export function rowsOf(body: string): Record<string, string>[] {
  return parse(body, { columns: true, record_delimiter: '\r\n' })
}
