import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { moveRelease } from '#src/extensions/tile-files/move.ts'
import type { App } from '#src/http/app.ts'
import { startTcpProxy, type TcpProxy } from '#test/data/tcp-proxy.ts'
import { KINDS as ALL_KINDS, answersOf, ingestKinds } from '#test/ingest/kinds.ts'
import { createTestApp, startApp, type TestApp } from '#test/setup/app.ts'
import { call } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { MISSING, startNginx } from './nginx.ts'

// Runs on a server alone: it is about what lies between the service and its files.

const DELAY_MS = 20

/** So many kinds of rasters. */
const KINDS = 4

if (MISSING) console.warn('test/extensions/tile-files/far.test.ts is skipped: it needs nginx.')

describe.skipIf(MISSING)('tiles in files behind nginx, 20 ms away', () => {
  let service: TestApp
  let person: Person
  let away: TcpProxy
  let expected: string[]
  const closing: (() => unknown)[] = []
  let opened: (() => Promise<void>)[] = []

  beforeAll(async () => {
    const folder = join(await newFolder(), 'tiles')
    let codes: string[] = []
    service = await createTestApp({
      template: 'empty',
      settings: { TILE_STORE: String(pathToFileURL(folder)), TILE_CACHE_MB: '0', RELEASE_MAX_AGE_MS: '0' },
      prepare: async (database) => {
        codes = (await ingestKinds(database, ALL_KINDS.slice(0, KINDS))).map(({ code }) => code)
      },
    })
    person = await newPerson(service.app)
    for (const code of codes) await moveRelease(service.database, code, 'postgis')
    expected = await answersOf(service.app, person, KINDS)
    for (const code of codes) await moveRelease(service.database, code, 'files')
    const nginx = await startNginx(folder)
    away = await startTcpProxy(`http://127.0.0.1:${nginx.port}`, DELAY_MS)
    closing.push(service.close, nginx.stop, away.close)
  })
  afterEach(async () => {
    for (const close of opened) await close()
    opened = []
  })
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  /** A service that was just started, which reads through what lies between. */
  async function newApp(settings: Record<string, string> = {}): Promise<App> {
    const { environment } = service.testDatabase
    const far = { TILE_STORE: away.url, TILE_STORE_TIMEOUT_MS: '60000' }
    const config = loadConfig({ ...environment, ...far, ...settings })
    const { app, close } = await startApp(config)
    opened.push(close)
    return app
  }

  test('points, batches and polygons are answered as from the database, byte for byte', async () => {
    const before = away.answers()
    expect(await answersOf(await newApp(), person, KINDS)).toEqual(expected)
    expect(away.answers()).toBeGreaterThan(before + 2 * KINDS - 1)
  })

  test('what is on the disk is answered without the files, by a process that was just started, and while they are away', async () => {
    const disk = { TILE_DISK_CACHE_DIR: await newFolder() }
    const first = await newApp(disk)
    expect(await answersOf(first, person, KINDS)).toEqual(expected)
    // What it has read is written while it answers.
    await vi.waitFor(async () => {
      const again = await newApp(disk)
      const before = away.answers()
      expect(await answersOf(again, person, KINDS)).toEqual(expected)
      expect(away.answers()).toBe(before)
      expect(again.files?.store().reads).toBe(0)
    }, PATIENCE)
    await away.cut()
    try {
      expect(await answersOf(await newApp(disk), person, KINDS)).toEqual(expected)
    } finally {
      await away.mend()
    }
  })

  test('while the files are away all else is answered 503 at once, readiness says so, and it ends by itself', async () => {
    await away.cut()
    const app = await newApp({ TILE_CACHE_MB: '64' })
    const statuses = async () => (await answersOf(app, person, KINDS)).map((answer) => answer.slice(0, 3))
    const ready = async () => {
      const { status, body } = await call(app, 'GET /health/ready')
      return [status, body]
    }
    try {
      expect(await ready()).toEqual([200, { status: 'ok', files: { state: 'used' } }])
      expect(await statuses()).toContain('503')
      expect(await ready()).toEqual([200, { status: 'ok', files: { state: 'unavailable' } }])
      const { errors } = app.files?.store() ?? {}
      await statuses()
      expect(app.files?.store().errors.refused).toBeGreaterThan(errors?.refused ?? 0)
    } finally {
      await away.mend()
    }
    await vi.waitFor(async () => {
      expect(await answersOf(app, person, KINDS)).toEqual(expected)
    }, PATIENCE)
    expect(await ready()).toEqual([200, { status: 'ok', files: { state: 'used' } }])
  })
})
