import { beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { connectAgent } from '#test/setup/agents.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { CHANNELS, createSender } from '#test/setup/gateway.ts'
import { openService } from '#test/setup/open-service.ts'
import { rectangle } from '#test/setup/square.ts'
import { CODES, CONDITIONS, FOOT, HILL, NOWHERE, slopes } from './releases.ts'

const entry = (fertilizer_type: string, condition: string | null, rate_kg_ha: number) => ({
  fertilizer_type,
  scenario: 'Normal',
  ...(condition && { condition }),
  rate_kg_ha,
})

const demo = openService()

/** Degrees of a pixel of the demo of Ethiopia. */
const PIXEL = 0.05

const at = ({ lat, lng }: typeof FOOT, more = '') => `lat=${lat}&lng=${lng}${more}`

test('an area has the mean of what the points inside it answer', async () => {
  const { app, person } = demo
  const [south, north] = [9.501, 9.509]
  // Rows of whole pixels of the demo, of equal size each; from one to ninety of them.
  for (const [west, pixels] of [
    [38.4, 1],
    [38.4, 12],
    [38.9, 30],
    [37.2, 90],
  ] as const) {
    const lngs = Array.from({ length: pixels }, (_, at) => west + (at + 0.5) * PIXEL)
    const points = lngs.map((lng) => ({ lat: (south + north) / 2, lng }))
    const { body } = await call(app, 'POST /advisory/fertilizer/points', { payload: { points } })
    const payload = { geometry: rectangle(west, south, west + pixels * PIXEL, north) }
    const area = (await call(app, 'POST /advisory/fertilizer', { payload, by: person })).body
    expect(area.fertilizer_data).toHaveLength(8)
    for (const [at, entry] of area.fertilizer_data.entries()) {
      const rates = body.items.map((item: { fertilizer_data: { rate_kg_ha: number }[] }) => {
        expect(item.fertilizer_data).toHaveLength(8)
        return item.fertilizer_data[at]?.rate_kg_ha
      })
      const mean = rates.reduce((sum: number, rate: number) => sum + rate, 0) / pixels
      expect(entry.rate_kg_ha, JSON.stringify([west, pixels, entry])).toBeCloseTo(mean, 1)
    }
    const conditions = body.items.map(
      ({ fertilizer_data: [first] }: { fertilizer_data: { condition: string }[] }) => first?.condition,
    )
    for (const { condition, share_percent } of area.by_condition ?? []) {
      const count = conditions.filter((one: string) => one === condition).length
      expect(share_percent).toBeCloseTo((100 * count) / pixels, 1)
    }
  }
})

test('a polygon without a value has no condition in tables either', async () => {
  const { app, person: by } = demo
  const features = [{ type: 'Feature', geometry: rectangle(33, 15, 33.1, 15.1) }]
  const payload = { polygons: { type: 'FeatureCollection', features }, crop: 'wheat', country_code: 'eth' }
  const headers = { accept: 'text/csv' }
  const { text } = await call(app, 'POST /advisory/fertilizer/polygons', { payload, headers, by })
  expect(text.trim().split('\r\n').at(-1)).toMatch(/,true,,+"The polygon at .*",OUTSIDE_COUNTRY$/)
})

describe.each([
  ['with a landscape raster', CODES],
  ['without one', undefined],
])('a release for positions on a slope, %s', (_, codes) => {
  const service = openService({ template: 'empty', settings: CHANNELS })
  beforeAll(async () => {
    await loadRelease(service.database, slopes(codes))
  })

  const ask = async (request: string, sent?: Sent) => {
    const answer = await service.ask(request, sent)
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

  const alternatives = (dap: number, rates: number[], shares?: number[]) =>
    CONDITIONS.list.map((one, index) => ({
      ...one,
      ...(shares && { share_percent: shares[index] }),
      entries: [entry('DAP', null, dap), entry('Urea', null, rates[index] as number)],
    }))

  test('without a name that of the place answers, or else the default does, with the question', async () => {
    const foot = await ask(`GET /advisory/fertilizer/point?${at(FOOT)}`)
    expect(foot.body.fertilizer_data).toEqual([
      entry('DAP', null, 5),
      byPlace ? entry('Urea', 'foot slope', 10) : entry('Urea', 'mid slope', 20),
    ])
    expect(foot.body.condition_source).toBe(byPlace ? 'landscape layer' : 'default')
    expect(foot.body.question).toBe(byPlace ? undefined : CONDITIONS.question)
    expect(foot.body.by_condition).toEqual(byPlace ? undefined : alternatives(5, [10, 20, 30]))
    const hill = await ask('POST /advisory/fertilizer/points', { payload: { points: [HILL] } })
    expect(hill.body.items[0].fertilizer_data).toEqual([
      entry('DAP', null, 6),
      byPlace ? entry('Urea', 'hill', 31) : entry('Urea', 'mid slope', 21),
    ])
    const nowhere = await ask(`GET /advisory/fertilizer/point?${at(NOWHERE)}`)
    expect(nowhere.body.fertilizer_data).toEqual([entry('DAP', null, 7), entry('Urea', 'mid slope', 22)])
    expect(nowhere.body.condition_source).toBe('default')
    expect(nowhere.body.question).toBe(CONDITIONS.question)
    const shares = byPlace ? [0, 100, 0] : undefined
    expect(nowhere.body.by_condition).toEqual(alternatives(7, [12, 22, 32], shares))
  })

  test('condition=all adds what the answer would be under each, and changes no entry', async () => {
    for (const condition of ['all', ' ALL ']) {
      const { body } = await ask('POST /advisory/fertilizer/point', { payload: { ...FOOT, condition } })
      const plain = await ask('POST /advisory/fertilizer/point', { payload: FOOT })
      expect(body.fertilizer_data).toEqual(plain.body.fertilizer_data)
      expect(body.by_condition).toEqual(alternatives(5, [10, 20, 30], byPlace ? [100, 0, 0] : undefined))
    }
    const table = async (more: string) => {
      const { text } = await ask(`GET /advisory/fertilizer/point?${at(FOOT, `&format=csv${more}`)}`)
      const [names = [], cells = []] = text
        .trim()
        .split('\r\n')
        .map((line) => line.split(','))
      return Object.fromEntries(names.map((name, column) => [name, cells[column]]))
    }
    const rate = 'rate_kg_ha Urea Normal'
    const own = await table('')
    expect(own[rate]).toBe(byPlace ? '10' : '20')
    expect(own.condition).toBe(byPlace ? 'foot slope' : 'mid slope')
    expect(Object.keys(own).filter((name) => name.startsWith('rate_'))).toEqual([
      'rate_kg_ha DAP Normal',
      rate,
    ])
    const all = await table('&condition=all')
    expect(CONDITIONS.list.map(({ condition }) => all[`${rate} ${condition}`])).toEqual(['10', '20', '30'])
    expect(all[rate]).toBe(own[rate])
  })

  test('a condition that it does not have is refused through each channel, with those that it has', async () => {
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
      const { status, body } = await service.ask(request, sent)
      expect(status, request).toBe(400)
      expect(body.details, request).toEqual([
        {
          field: 'condition',
          message: 'condition must be one of foot slope, mid slope, hill, all',
          allowed: ['foot slope', 'mid slope', 'hill', 'all'],
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
    const { status, body } = await service.get(`/advisory/point?${at(FOOT)}&condition=valley`)
    expect([status, body.code]).toEqual([400, 'INVALID_PARAMETERS'])
    expect(body.details[0]).toMatchObject({ field: 'yield', code: 'NO_RELEASE' })
    expect(body.details[1]).toMatchObject({ field: 'fertilizer', code: 'INVALID_PARAMETERS' })
  })

  test('a polygon of one condition has its values, one of several their mixture, pixel by pixel', async () => {
    const advise = async (west: number, east: number, more = {}) => {
      const payload = { geometry: rectangle(west, 9.2, east, 9.8), ...more }
      const { body } = await ask('POST /advisory/fertilizer', { payload, by: service.person })
      const { fertilizer_data, condition_source, question, by_condition } = body
      const rates = fertilizer_data.map(({ condition, rate_kg_ha }: Record<string, unknown>) => [
        condition,
        rate_kg_ha,
      ])
      const shares = by_condition?.map((one: Record<string, unknown>) => one.share_percent)
      return { rates, condition_source, question, shares }
    }
    // A quarter of a degree of the foot slope with 10, and half a degree of the hill with 31.
    expect(await advise(38.25, 39)).toEqual(
      byPlace
        ? {
            rates: [
              [undefined, 5.67],
              [undefined, 24],
            ],
            condition_source: 'landscape layer',
            question: undefined,
            shares: [33.33, 0, 66.67],
          }
        : {
            rates: [
              [undefined, 5.67],
              ['mid slope', 20.67],
            ],
            condition_source: 'default',
            question: CONDITIONS.question,
            shares: [undefined, undefined, undefined],
          },
    )
    // The hill, and as much of the default.
    expect((await advise(38.75, 39.25)).rates).toEqual([
      [undefined, 6.5],
      byPlace ? [undefined, 26.5] : ['mid slope', 21.5],
    ])
    expect(await advise(38.1, 38.2)).toMatchObject({
      rates: [[undefined, 5], byPlace ? ['foot slope', 10] : ['mid slope', 20]],
      condition_source: byPlace ? 'landscape layer' : 'default',
    })
    expect((await advise(38.25, 38.75, { condition: 'Mid slope' })).rates).toEqual([
      [undefined, 5.5],
      ['mid slope', 20.5],
    ])
  })

  test('totals of a mixture add up to those of its parts', async () => {
    const advise = async (west: number, east: number) => {
      const payload = { geometry: rectangle(west, 9.2, east, 9.8) }
      const { body } = await ask('POST /advisory/fertilizer', { payload, by: service.person })
      return body.fertilizer_data.map(({ total_kg }: { total_kg: number }) => total_kg)
    }
    const [whole, foot, hill] = [await advise(38.1, 38.9), await advise(38.1, 38.5), await advise(38.5, 38.9)]
    // Totals from 1,000 on are whole numbers.
    for (const [index, total] of whole.entries()) {
      expect(Math.abs(foot[index] + hill[index] - total)).toBeLessThanOrEqual(1)
    }
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

  test('a conversation asks for the condition by numbers, and a number chooses', async () => {
    const send = createSender(() => service.app)
    expect(await send(`UREA ${NOWHERE.lat} ${NOWHERE.lng}`)).toBe(
      'Where on the slope is the field? 1 foot slope; 2 mid slope; 3 hill.',
    )
    expect(await send('3')).toContain('Urea Normal hill 32 kg/ha')
  })

  test('costs are of the condition that answers', async () => {
    const { body } = await ask(
      `GET /advisory/fertilizer/point?${at(NOWHERE)}&area=1%20ha&prices=ETB%20DAP:10,Urea:1`,
    )
    expect(body.quantities.scenarios).toEqual([{ scenario: 'Normal', condition: 'mid slope', cost: 92 }])
    expect(body.quantities.expected).toEqual({ scenario: 'Mean of all scenarios', cost: 92 })
  })

  test('the release lists its conditions, and the tools of agents ask for one', async () => {
    const { body } = await ask('GET /releases/fertilizer-eth-wheat-2026-07-v1')
    expect(body.conditions).toEqual({ ...CONDITIONS, ...(codes && { codes }) })
    expect(body.layers[1]).toMatchObject({ input: 'Urea' })
    expect(body.layers[1]).not.toHaveProperty('condition')
    expect(body.layers[2]).toMatchObject({ input: 'Urea', condition: 'foot slope' })
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
          values: { DAP: { Normal: 7 }, Urea: { Normal: 22 } },
          condition: 'mid slope',
          by_condition: { hill: { values: { DAP: { Normal: 7 }, Urea: { Normal: 32 } } } },
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
    expect(named.content).toMatchObject({
      products: [{ values: { Urea: { Normal: 32 } }, condition: 'hill' }],
    })
    await agent.close()
  })
})

describe.each([
  ['mid slope', 'mid slope', 20.5],
  [undefined, 'foot slope', 10.5],
])('a release of before mixtures, whose default is %s', (named, condition, rate) => {
  const service = openService({ template: 'empty' })
  beforeAll(async () => {
    const { writer: db } = service.database
    await loadRelease(service.database, slopes(CODES))
    const { default: _, ...unnamed } = { ...CONDITIONS, codes: CODES }
    const conditions = { ...unnamed, ...(named && { default: named }) }
    await db.updateTable('release').set({ conditions }).execute()
    await db.deleteFrom('companion').where('role', '=', 'share').execute()
    await db.deleteFrom('layer').where('condition', 'is', null).where('input', '=', 'Urea').execute()
    for (const ordinal of [3, 4, 5, 6]) {
      const lower = { ordinal: ordinal - 1 }
      for (const table of ['layer', 'companion'] as const) {
        await db.updateTable(table).set(lower).where('ordinal', '=', ordinal).execute()
      }
    }
  })

  test('has one entry for each input and scenario in an area of several conditions, and says it guesses', async () => {
    const { app, person: by } = service
    const payload = { geometry: rectangle(38.25, 9.2, 38.75, 9.8) }
    const { body } = await call(app, 'POST /advisory/fertilizer', { payload, by })
    expect(body.fertilizer_data).toMatchObject([
      { fertilizer_type: 'DAP', rate_kg_ha: 5.5 },
      { fertilizer_type: 'Urea', condition, rate_kg_ha: rate },
    ])
    expect([body.condition_source, body.question]).toEqual(['default', CONDITIONS.question])
    expect(body.by_condition).toHaveLength(3)
    // What parts of the area have is not stored.
    for (const one of body.by_condition) expect(one).not.toHaveProperty('share_percent')
    const features = [{ type: 'Feature', geometry: payload.geometry }]
    const polygons = { type: 'FeatureCollection', features }
    const headers = { accept: 'text/csv' }
    const sent = { payload: { polygons }, headers, by }
    const { text } = await call(app, 'POST /advisory/fertilizer/polygons', sent)
    expect(text.trim().split('\r\n').at(-1)).toContain(`,${condition},default,`)
    const foot = await call(app, `GET /advisory/fertilizer/point?${at(FOOT, '&condition=all')}`)
    expect(foot.body.by_condition[0].share_percent).toBe(100)
  })
})
