import { beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { connectAgent } from '#test/setup/agents.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { rectangle } from '#test/setup/square.ts'
import { CODES, CONDITIONS, FOOT, HILL, NOWHERE, slopes } from './releases.ts'

const entry = (fertilizer_type: string, condition: string | null, rate_kg_ha: number) => ({
  fertilizer_type,
  scenario: 'Normal',
  ...(condition && { condition }),
  rate_kg_ha,
})

const at = ({ lat, lng }: typeof FOOT, more = '') => `lat=${lat}&lng=${lng}${more}`

describe.each([
  ['with a landscape raster', CODES],
  ['without one', undefined],
])('a release for positions on a slope, %s', (_, codes) => {
  const service = openService({ template: 'empty' })
  beforeAll(async () => {
    await loadRelease(service.database, slopes(codes))
  })

  const ask = async (request: string, sent?: Sent) => {
    const answer = await call(service.app, request, sent)
    expect(answer.status, answer.text).toBe(200)
    return answer
  }
  const byPlace = codes !== undefined

  test('a named condition alone answers, by its name or title in any case, beside layers for all', async () => {
    for (const condition of ['hill', 'HILL', ' Hill ']) {
      const { body } = await ask(
        `GET /advisory/fertilizer/point?${at(FOOT, `&condition=${encodeURIComponent(condition)}`)}`,
      )
      expect(body.fertilizer_data).toEqual([entry('DAP', null, 5), entry('Urea', 'hill', 30)])
      expect(body).not.toHaveProperty('condition_source')
      expect(body).not.toHaveProperty('question')
    }
    const payload = { ...FOOT, condition: 'foot slope, with deep soil' }
    const { body } = await ask('POST /advisory/fertilizer/point', { payload })
    expect(body.fertilizer_data).toEqual([entry('DAP', null, 5), entry('Urea', 'foot slope', 10)])
  })

  test('without a name that of the place answers, or else all do, with the question', async () => {
    const all = (dap: number, ...rates: number[]) => [
      entry('DAP', null, dap),
      ...CONDITIONS.list.map(({ condition }, index) => entry('Urea', condition, rates[index] as number)),
    ]
    const foot = await ask(`GET /advisory/fertilizer/point?${at(FOOT)}`)
    expect(foot.body.fertilizer_data).toEqual(
      byPlace ? [entry('DAP', null, 5), entry('Urea', 'foot slope', 10)] : all(5, 10, 20, 30),
    )
    expect(foot.body.condition_source).toBe(byPlace ? 'landscape layer' : undefined)
    expect(foot.body.question).toBe(byPlace ? undefined : CONDITIONS.question)
    const hill = await ask('POST /advisory/fertilizer/points', { payload: { points: [HILL] } })
    expect(hill.body.items[0].fertilizer_data).toHaveLength(byPlace ? 2 : 4)
    const nowhere = await ask(`GET /advisory/fertilizer/point?${at(NOWHERE)}`)
    expect(nowhere.body.fertilizer_data).toEqual(all(7, 12, 22, 32))
    expect(nowhere.body.question).toBe(CONDITIONS.question)
  })

  test('a condition that it does not have is refused through each door, with those that it has', async () => {
    const by = service.person
    const condition = 'valley'
    const polygons = {
      type: 'FeatureCollection',
      features: [{ type: 'Feature', geometry: rectangle(38.1, 9.2, 38.2, 9.8) }],
    }
    for (const [request, sent] of [
      [`GET /advisory/fertilizer/point?${at(FOOT)}&condition=valley`, {}],
      ['POST /advisory/fertilizer/points', { payload: { points: [FOOT], condition } }],
      [
        'POST /advisory/fertilizer',
        { payload: { geometry: rectangle(38.1, 9.2, 38.2, 9.8), condition }, by },
      ],
      ['POST /advisory/fertilizer/polygons', { payload: { polygons, condition }, by }],
    ] as [string, Sent][]) {
      const { status, body } = await call(service.app, request, sent)
      expect(status, request).toBe(400)
      expect(body.details, request).toEqual([
        {
          field: 'condition',
          message: 'condition must be one of foot slope, mid slope, hill',
          allowed: ['foot slope', 'mid slope', 'hill'],
        },
      ])
    }
  })

  test('each of many points may have a condition of its own, in each format', async () => {
    const points = [
      { id: 1, ...FOOT, condition: 'Hill' },
      { id: 2, ...FOOT, condition: undefined },
      { id: 3, ...FOOT, condition: 'valley' },
    ]
    const csv = `id,lat,lng,condition\n1,9.5,38.2,Hill\n2,9.5,38.2,\n3,9.5,38.2,valley\n`
    const features = points.map(({ id, lat, lng, condition }) => ({
      type: 'Feature',
      id,
      properties: { condition },
      geometry: { type: 'Point', coordinates: [lng, lat] },
    }))
    const bodies: [type: string, payload: string][] = [
      ['application/json', JSON.stringify({ points, condition: 'mid slope' })],
      ['text/csv', csv],
      ['application/geo+json', JSON.stringify({ type: 'FeatureCollection', features })],
    ]
    for (const [type, payload] of bodies) {
      const headers = { 'content-type': type, accept: 'application/json' }
      const url = `/advisory/fertilizer/points${type === 'application/json' ? '' : '?condition=mid+slope'}`
      const { body } = await ask(`POST ${url}`, { payload, headers })
      const [hill, mid, valley] = body.items
      expect(hill.fertilizer_data, type).toEqual([entry('DAP', null, 5), entry('Urea', 'hill', 30)])
      expect(mid.fertilizer_data, type).toEqual([entry('DAP', null, 5), entry('Urea', 'mid slope', 20)])
      expect(valley, type).toMatchObject({ fertilizer_data: null, code: 'INVALID_PARAMETERS' })
    }
  })

  test('for all products the section of the release has that error', async () => {
    const { status, body } = await call(service.app, `GET /advisory/point?${at(FOOT)}&condition=valley`)
    expect([status, body.code]).toEqual([400, 'INVALID_PARAMETERS'])
    expect(body.details[0]).toMatchObject({ field: 'yield', code: 'NO_RELEASE' })
    expect(body.details[1]).toMatchObject({ field: 'fertilizer', code: 'INVALID_PARAMETERS' })
  })

  test('a polygon of one condition has its values, one of several has all', async () => {
    const advise = async (west: number, east: number, more = {}) => {
      const payload = { geometry: rectangle(west, 9.2, east, 9.8), ...more }
      const { body } = await ask('POST /advisory/fertilizer', { payload, by: service.person })
      const { fertilizer_data, condition_source, question } = body
      const rates = fertilizer_data.map(({ condition, rate_kg_ha }: Record<string, unknown>) => [
        condition,
        rate_kg_ha,
      ])
      return { rates, condition_source, question }
    }
    const several = {
      rates: [
        [undefined, 5.5],
        ['foot slope', 10.5],
        ['mid slope', 20.5],
        ['hill', 30.5],
      ],
      condition_source: undefined,
      question: CONDITIONS.question,
    }
    expect(await advise(38.25, 38.75)).toEqual(several)
    const one = await advise(38.1, 38.2)
    if (byPlace) {
      expect(one).toEqual({
        rates: [
          [undefined, 5],
          ['foot slope', 10],
        ],
        condition_source: 'landscape layer',
        question: undefined,
      })
    } else expect(one.rates).toHaveLength(4)
    expect((await advise(38.25, 38.75, { condition: 'Mid slope' })).rates).toEqual([
      [undefined, 5.5],
      ['mid slope', 20.5],
    ])
  })

  test('a text message asks back where several conditions answer', async () => {
    const headers = { accept: 'text/plain' }
    const { text } = await ask(`GET /advisory/fertilizer/point?${at(NOWHERE)}`, { headers })
    expect(text).toBe(
      'Fertilizer (wheat) Jul 2026: Where on the slope is the field? foot slope, mid slope, hill.',
    )
    const answer = await ask(`GET /advisory/fertilizer/point?${at(NOWHERE)}&condition=hill`, { headers })
    expect(answer.text).toBe('Fertilizer (wheat) Jul 2026: DAP Normal 7 kg/ha; Urea Normal hill 32 kg/ha.')
  })

  test('costs are of each condition', async () => {
    const { body } = await ask(
      `GET /advisory/fertilizer/point?${at(NOWHERE)}&area=1%20ha&prices=ETB%20DAP:10,Urea:1`,
    )
    expect(body.quantities.scenarios).toEqual([
      { scenario: 'Normal', condition: 'foot slope', cost: 82 },
      { scenario: 'Normal', condition: 'mid slope', cost: 92 },
      { scenario: 'Normal', condition: 'hill', cost: 102 },
    ])
    expect(body.quantities.least).toEqual({ scenario: 'Normal', condition: 'foot slope', cost: 82 })
    expect(body.quantities).not.toHaveProperty('expected')
  })

  test('the release lists its conditions, and the tools of agents ask for one', async () => {
    const { body } = await ask('GET /releases/fertilizer-eth-wheat-2026-07-v1')
    expect(body.conditions).toEqual({ ...CONDITIONS, ...(codes && { codes }) })
    expect(body.layers[1]).toMatchObject({ input: 'Urea', condition: 'foot slope' })
    const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const agent = await connectAgent(url, 2026)
    const asked = await agent.call('advise_point', {
      ...NOWHERE,
      country_code: 'eth',
      crop: 'wheat',
      product: 'fertilizer',
    })
    expect(asked.content).toMatchObject({
      products: [
        {
          values: {
            DAP: { any: { Normal: 7 } },
            Urea: { 'foot slope': { Normal: 12 }, 'mid slope': { Normal: 22 }, hill: { Normal: 32 } },
          },
          question: CONDITIONS.question,
        },
      ],
    })
    const named = await agent.call('advise_point', {
      ...NOWHERE,
      country_code: 'eth',
      crop: 'wheat',
      product: 'fertilizer',
      condition: 'hill',
    })
    expect(named.content).toMatchObject({ products: [{ values: { Urea: { hill: { Normal: 32 } } } }] })
    await agent.close()
  })
})
