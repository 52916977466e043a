import { expect, test } from 'vitest'
import { openService } from '#test/setup/open-service.ts'

const service = openService({ settings: { EXTENSIONS: '-docs' } })

test('without its extension there are no pages of the documentation, and nothing leads there', async () => {
  for (const path of ['/docs', '/docs/guide', '/docs/static/swagger-ui.css'])
    expect([path, (await service.get(path)).status]).toEqual([path, 404])
  expect((await service.get('/nowhere')).body.error).toBe('Path not found: GET /nowhere. See /openapi.json.')
  const page = await service.get('/', { headers: { accept: 'text/html' } })
  expect(page.text).toContain('<a href="openapi.json">the documentation</a>')
  const proof = { payload: { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth', proof: true } }
  const answers = [
    page,
    await service.get('/'),
    await service.get('/robots.txt'),
    await service.get('/openapi.yaml'),
    await service.get('/stac'),
    await service.post('/advisory/yield/point', proof),
  ]
  for (const { text } of answers) expect(text).not.toMatch(/["/ ]docs\b/)
})
