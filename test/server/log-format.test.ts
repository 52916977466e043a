import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '#test/setup/database.ts'
import { scrape } from '#test/setup/scrape.ts'
import { startService } from '#test/setup/service-process.ts'

/** Lines are the same on both databases. */
describe('with LOG_FORMAT=json', () => {
  test('every line is JSON, from the start to the end, and the port for scrapes is named', async () => {
    const { environment, drop } = await createTestDatabase('demo')
    const service = startService({
      ...environment,
      JWT_SECRET: 'for this test alone '.repeat(2),
      METRICS_PORT: '0',
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      ACCESS_LOG: 'true',
    })
    const [, url] = await service.prints(/"url":"([^"]+)","msg":"ready in /)
    const [, metricsPort] = await service.prints(/"msg":"metrics at http:\/\/127\.0\.0\.1:(\d+)\/metrics"/)
    const answer = await fetch(`${url}/health/live`)
    await service.prints(/"msg":"answered"/)
    expect((await scrape(Number(metricsPort))).samples.get('agro_draining')).toBe(0)
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
    const lines = service
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [30, expect.stringMatching(/^ready in [\d.]+ s$/)],
      [30, expect.stringMatching(/^metrics at /)],
      [30, 'answered'],
      [30, 'stopping'],
    ])
    expect(lines[2]).toMatchObject({
      reqId: answer.headers.get('x-request-id'),
      method: 'GET',
      route: '/health/live',
      status: 200,
      bytes: 15,
      network: '127.0.0.1',
    })
    for (const { time, pid } of lines) {
      expect(pid).toBe(service.pid)
      expect(time).toBeGreaterThan(Date.now() - 600_000)
    }
    await drop()
  })

  test('what is wrong with the settings is JSON, too', async () => {
    const service = startService({ LOG_FORMAT: 'json', HISTORY_FULL: 'never' })
    expect(await service.ended).toBe(1)
    expect(JSON.parse(service.stderr())).toMatchObject({
      level: 60,
      msg: 'The configuration is not valid: HISTORY_FULL must be equal to one of the allowed values: oldest, refuse.',
    })
  })
})
