import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '#bench/cluster.ts'
import { execute } from '#bench/postgres.ts'

const ROLE = 'agro'
const PASSWORD = 'teff-grows-at-dawn'

/** Makes a role that the server asks for its password, as it does on machines that others reach. */
export async function makeServiceRole({ url, data }: Cluster): Promise<void> {
  await execute(url, `create role ${ROLE} superuser login password '${PASSWORD}'`)
  const file = join(data, 'pg_hba.conf')
  const rules = readFileSync(file, 'utf8')
  // The first rule that fits counts; everybody else is trusted.
  writeFileSync(file, `host all ${ROLE} all scram-sha-256\n${rules}`)
  await execute(url, 'select pg_reload_conf()')
}

/** The URL of a database as that role. */
export function asService(database: string): string {
  const url = new URL(database)
  url.username = ROLE
  url.password = PASSWORD
  return url.href
}
