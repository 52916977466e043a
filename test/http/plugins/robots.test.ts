import { expect, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'

test.each(['', '/agro'])(
  'with BASE_PATH "%s" crawlers are asked to read the documents alone, at the root of the host',
  async (prefix) => {
    const { app, close } = await createTestApp({ settings: { BASE_PATH: prefix } })
    const answer = await app.inject('/robots.txt')
    expect([answer.statusCode, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'public, max-age=86400',
    ])
    expect(answer.body).toBe(
      `User-agent: *\nAllow: ${prefix}/docs\nAllow: ${prefix}/openapi.json\nAllow: ${prefix}/openapi.yaml\nDisallow: ${prefix}/\n`,
    )
    const again = await app.inject({
      url: '/robots.txt',
      headers: { 'if-none-match': String(answer.headers.etag) },
    })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    await close()
  },
)

test('the file for crawlers is no operation of the document', async () => {
  const { app, close } = await createTestApp()
  expect(Object.keys((await app.inject('/openapi.json')).json().paths)).not.toContain('/robots.txt')
  await close()
})
