import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PointRequest } from '#schemas/point-request.ts'
import type { Additions } from '#src/advice/additions.ts'
import type { Extension } from '#src/extensions/extension.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { openService } from '#test/setup/open-service.ts'

const TSV = 'text/tab-separated-values'

/** A member without a value here, and a format that has no columns for members. */
const added: Partial<Additions> = {
  members: [
    {
      name: 'slope' as keyof PointRequest,
      of: 'pixels',
      field: Type.Boolean(),
      schema: Type.String(),
      components: [],
      read: async () => undefined,
    },
  ],
  formats: [
    {
      name: 'tsv',
      mediaType: TSV,
      schema: Type.String({ $id: 'PointAsLines' }),
      headers: {},
      fields: {},
      parameters: {},
      members: 'refused',
      write: (answer) =>
        answer instanceof Error ? undefined : { text: answer.writeTable(), contentType: TSV },
    },
  ],
}

// In the place of those of an extension, which one that is not in the list cannot be.
const [extension] = EXTENSIONS as [Extension]
const { additions } = extension
beforeAll(() => void Object.assign(extension, { additions: async () => added }))
const service = openService()
afterAll(() => void Object.assign(extension, { additions }))

const POINT = { lat: 9.5, lng: 38.5 }

test('a format refuses the members it has no columns for by its own name, also where Accept chooses it', async () => {
  const headers = { accept: TSV }
  const { status, headers: sent } = await service.post('/advisory/yield/point', {
    headers,
    payload: POINT,
  })
  expect([status, sent['content-type']]).toEqual([200, TSV])
  for (const [request, payload] of [
    ['POST /advisory/yield/point', { ...POINT, slope: true }],
    ['GET /advisory/yield/point?lat=9.5&lng=38.5&slope=true', undefined],
    ['GET /advisory/yield?place=9.5,38.5&slope=true', undefined],
  ] as const) {
    const { status, body } = await service.ask(request, { headers, ...(payload && { payload }) })
    const sentence = 'slope must be left out for TSV, which has no columns for it.'
    expect([request, status, body.error]).toEqual([request, 400, sentence])
  }
})

test.each(['/yield', ''])('POST /advisory%s/point lacks a member that has no value', async (path) => {
  const ask = async (more: object) =>
    (await service.post(`/advisory${path}/point`, { payload: { ...POINT, ...more } })).text
  expect(await ask({ slope: true })).toBe(await ask({}))
})
