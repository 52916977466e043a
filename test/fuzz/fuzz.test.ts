// Runs on a server alone: document-answers.test.ts asks every operation of the embedded database.
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { type FuzzReport, fuzz } from './fuzz.ts'
import { failureText, statusesTable } from './report.ts'
import { ADMIN_ACCOUNT, addAdmin, type Mails, startMails } from './service.ts'

/*
 * A gateway that knows the document alone stands between clients and the service: it lets through what the
 * document has, in both directions. Requests are made of the document's own schemas, and of what is wrong with
 * them: CONTRIBUTING.md says how to ask for more of them.
 */

/** A case takes some milliseconds of computing. */
const RUNS = 700
/** The same requests each time: with others a mistake would come and go. */
const SEED = 12

/** One after the other, they take minutes on a busy machine. */
const LONGEST_MS = 900_000

let mails: Mails
let service: TestApp
let report: FuzzReport
beforeAll(async () => {
  mails = await startMails()
  service = await createTestApp({ settings: mails.settings, prepare: addAdmin })
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = service.app.server.address() as AddressInfo
  // Some answers take long on a busy machine, which is no mistake of theirs.
  const options = { plainFirst: true, nextToken: mails.nextToken, admin: ADMIN_ACCOUNT }
  report = await fuzz({ port, runs: RUNS, seed: SEED, slowestMs: Infinity, ...options })
}, LONGEST_MS)
afterAll(async () => {
  await service.close()
  await mails.close()
})

test(`${RUNS} made-up requests by seed ${SEED} are answered as the document says`, () => {
  expect(failureText(report)).toBe('')
})

test('they succeed at every operation', () => {
  const missed = Object.entries(report.statuses)
    .filter(([, counts]) => !Object.keys(counts).some((status) => status.startsWith('2')))
    .map(([operation]) => operation)
  expect(missed, statusesTable(report)).toEqual([])
})

test('they are legal, illegal, and neither', () => {
  const { legal, illegal, unclear } = report.verdicts
  expect(legal).toBeGreaterThan(RUNS / 3)
  expect(illegal).toBeGreaterThan(RUNS / 10)
  expect(unclear).toBeGreaterThan(RUNS / 10)
})
