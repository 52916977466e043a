import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Agent, connectAgent } from '#test/setup/agents.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { CHANNELS, createSender } from '#test/setup/gateway.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'

// Runs on a server alone: the statements of each channel have tests of their own on both databases.

const service = openService({ settings: { ...CHANNELS, RELEASE_MAX_AGE_MS: '0' } })
const send = createSender(() => service.app)

let agent: Agent
beforeAll(async () => {
  agent = await connectAgent(await service.app.listen({ host: '127.0.0.1', port: 0 }), 2026)
})
afterAll(() => agent.close())

describe('the mean of an area', () => {
  test.each(['Amhara', 'Fiche'])('is the same at all channels: %s', async (place) => {
    const { yield_data, release, place: found } = await get('/advisory/yield', { place })
    const mean = normalOf(yield_data)
    const all = await get('/advisory', { place })
    const { country_code, code, level } = found
    const admin = { country_code, code, level }
    const posted = await service.post('/advisory/yield', { by: service.person, payload: { admin } })
    // A page ends where computing takes long; what is computed is remembered.
    const rowOf = async () =>
      (await get(`/ogc/collections/advisory-${release}-${level}/items`, { limit: '1000' })).features.find(
        ({ properties }: { properties: { code: string } }) => properties.code === code,
      )
    const row = await vi.waitUntil(rowOf, PATIENCE)
    const advised = await agent.call('advise_area', { product: 'yield', area: place })
    const { columns, rows } = advised.content as { columns: string[]; rows: (string | number)[][] }
    const ofAgent = rows.find((cells) => cells[columns.indexOf('scenario')] === 'Normal')
    expect({
      all: normalOf(all.yield.yield_data),
      posted: normalOf(posted.body.yield_data),
      table: row.properties['yield_kg_ha Normal'],
      agent: ofAgent?.[columns.indexOf('yield_kg_ha')],
    }).toEqual({ all: mean, posted: mean, table: mean, agent: mean })
    const text = (await service.get(`/advisory/yield?place=${place}&format=text`)).text
    for (const said of [text, await send(`yield ${place}`)]) {
      expect(said).toContain(
        `${place}. Demo data, not advice. Yield (wheat) Jul 2026: Normal ${Math.round(mean)} kg/ha`,
      )
    }
  })
})

describe('names and codes with slashes', () => {
  const NAME = 'Komenda/Edina/Eguafo/Abirem'

  beforeAll(async () => {
    const areas = [
      feature({ ADM1_CODE: 'GH/1', ADM1_NAME: NAME, ISO3: 'GHA' }, rectangle(-1.6, 5, -1.3, 5.3)),
      feature(
        { ADM1_CODE: 'coop/1', ADM1_NAME: 'Bibiani/Anhwiaso', ISO3: 'GHA' },
        rectangle(-1.3, 5, -1, 5.3),
      ),
    ]
    await loadFile(service.database, await boundaryFile(areas), 'gha', 1)
  })

  test('are found by everybody, with and without a token', async () => {
    for (const by of [undefined, service.person]) {
      for (const place of [NAME, 'GH/1', 'gh/1', 'komenda edina eguafo abirem', `${NAME}, Ghana`]) {
        for (const path of ['/advisory', '/advisory/forage']) {
          const answer = await get(path, { place }, by)
          expect([place, answer.place]).toMatchObject([place, { found: NAME, kind: 'area', code: 'GH/1' }])
        }
      }
      const near = await get('/advisory/forage', { place: 'Komenda/Edina' }, by)
      expect(near.did_you_mean.map(({ code }: { code: string }) => code)).toEqual(['GH/1'])
    }
  })

  test('are found by messages and agents', async () => {
    for (const text of [`forage ${NAME}`, 'forage GH/1', 'GH/1 forage', `forage/${NAME}`]) {
      expect(await send(text)).toMatch(/^Komenda\/Edina\/Eguafo\/Abirem\. Demo data, not advice\. Forage/)
    }
    for (const area of [NAME, 'GH/1']) {
      const { content } = await agent.call('advise_area', { product: 'forage', area })
      expect(content.location).toMatchObject({ name: NAME })
    }
  })

  test('give way to a saved field, where there is one', async () => {
    await keepFields(service, 'coop', [fieldOf('1', rectangle(-1.5, 5.1, -1.499, 5.101))])
    const ask = async (place: string, by?: typeof service.person) => {
      const { place: found, code } = await get('/advisory/forage', { place }, by)
      return found?.kind ?? code
    }
    expect(await ask('coop/1', service.person)).toBe('field')
    expect(await ask('coop/1')).toBe('area')
    expect(await ask('coop/2', service.person)).toBe('NOT_FOUND')
    expect(await ask('coop/2')).toBe('UNAUTHORIZED')
  })
})

const get = async (path: string, query: Record<string, string>, by?: typeof service.person) =>
  (await service.get(`${path}?${new URLSearchParams(query)}`, by ? { by } : {})).body

type Entry = { scenario: string; yield_kg_ha: number }

const normalOf = (entries: Entry[]) =>
  entries.find(({ scenario }) => scenario === 'Normal')?.yield_kg_ha as number
