import type { Bench } from '../bench.ts'
import { logIn, makeKey } from '../load/client.ts'
import type { DatabaseServer } from '../postgres.ts'
import type { Server } from '../processes.ts'
import type { HistorySize } from '../results.ts'
import { startService, withDatabase } from '../service.ts'
import { type Caller, findLandmarks, type HistoryCall, historyCalls } from './calls.ts'
import { fillHistory } from './fill.ts'
import type { Models } from './models.ts'
import { countReads } from './reads.ts'

/** The account that the bench fills is fuller than is allowed otherwise, and filling another one takes longer than a token lasts. */
const SETTINGS = {
  HISTORY_USER_ITEMS: '100000000',
  HISTORY_USER_MB: '1000000',
  ACCESS_TOKEN_MINUTES: '1440',
}

/** A service on a database with so many items. */
export interface Stage {
  /** Of the database, and of the list of kept points in the load generator. */
  name: string
  url: string
  size: HistorySize
  /** E-mails of accounts that are to be deleted, before the one that asks. */
  deleted: string[]
  service: Server
  tokens: Record<Caller, string>
  calls: HistoryCall[]
  /** How many items each statement reads. */
  reads: Map<string, number>
}

/** Makes a database with so many items, and starts a service on it. */
export async function openStage(
  { cleanup, generator }: Bench,
  server: DatabaseServer,
  { database, account, point }: Models,
  name: string,
  items: number,
): Promise<Stage> {
  const url = await server.createDatabase(name, database)
  const { deleted, ...size } = await fillHistory(url, account.email, items)
  const landmarks = await findLandmarks(server, url, account.email, size)
  const reads = await withDatabase({ DATABASE_URL: url }, ({ writer }) =>
    countReads(writer, account.email, landmarks),
  )
  const admin = `2.${account.email}`
  await server.execute(url, `update app_user set role = 'admin' where email = '${admin}'`)
  const service = await startService(cleanup, { DATABASE_URL: url }, SETTINGS)
  const memberAt = (email: string) => logIn({ port: service.port }, { ...account, email })
  const key = await makeKey(await memberAt(account.email))
  const tokens = {
    account: key,
    other: await makeKey(await memberAt(`1.${account.email}`)),
    admin: (await memberAt(admin)).token,
  }
  await generator.prepare({
    list: name,
    paths: [point.path],
    bodies: [JSON.stringify(point.body)],
    token: key,
  })
  return { name, url, size, deleted, service, tokens, calls: historyCalls(landmarks), reads }
}
