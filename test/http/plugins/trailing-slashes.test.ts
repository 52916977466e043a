import { describe, expect, test } from 'vitest'
import { openService } from '#test/setup/open-service.ts'

// Runs on either database: it asks for no data.

const service = openService({ settings: { BASE_PATH: '/agro' } })

const ask = async (method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'OPTIONS', url: string) => {
  const { status, headers } = await service.ask(`${method} ${url}`)
  return [status, headers.location]
}

describe('a path with a slash at its end', () => {
  test.each([
    ['GET', '/agro/advisory/yield/?place=Fiche', '/agro/advisory/yield?place=Fiche'],
    ['HEAD', '/agro/advisory/yield/point/?lat=9.5&lng=38.5', '/agro/advisory/yield/point?lat=9.5&lng=38.5'],
    ['POST', '/agro/advisory/yield/point/?crop=wheat', '/agro/advisory/yield/point?crop=wheat'],
    ['POST', '/agro/advisory/yield/', '/agro/advisory/yield'],
    ['GET', '/agro/catalog//', '/agro/catalog'],
    ['GET', '/agro/ogc/collections/', '/agro/ogc/collections'],
    ['GET', '/agro/ogc/collections/areas-rwa-1/?f=json', '/agro/ogc/collections/areas-rwa-1?f=json'],
    [
      'GET',
      '/agro/ogc/collections/areas-rwa-1/items/?bbox=30,-3,31,-1',
      '/agro/ogc/collections/areas-rwa-1/items?bbox=30,-3,31,-1',
    ],
    ['GET', '/agro/history/my/', '/agro/history/my'],
    ['GET', '/agro/field/', '/agro/field'],
  ] as const)('is redirected to the path without it: %s %s', async (method, url, location) => {
    expect(await ask(method, url)).toEqual([308, location])
  })

  test('is redirected with the prefix of a trusted proxy', async () => {
    const app = service.app
    const { headers } = await app.inject({ url: '/agro/catalog/', headers: { 'x-forwarded-prefix': '/x' } })
    expect(headers.location).toBe('/agro/catalog')
  })

  test.each([
    ['GET', '/agro/nothing/', 404],
    ['GET', '/agro//evil.example/', 404],
    ['GET', '//evil.example/', 404],
    ['GET', '/\\evil.example/', 404],
    ['GET', '/agro/ogc/', 200],
    ['PATCH', '/agro/advisory/yield/point/', 404],
    ['OPTIONS', '/agro/advisory/yield/point/', 204],
  ] as const)('is answered as it is otherwise: %s %s', async (method, url, status) => {
    expect(await ask(method, url)).toEqual([status, undefined])
  })
})
