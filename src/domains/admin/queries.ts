import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** Reads what countries may be called by; the function returned finds a country's code by any of it. */
export async function findCountryCodes(db: Kysely<Tables>): Promise<(name: string) => string | undefined> {
  const rows = await db.selectFrom('country_alias').select(['alias', 'country_code']).execute()
  const codes = new Map(rows.map(({ alias, country_code }) => [alias, country_code]))
  return (name) => codes.get(aliasOf(name))
}

/** A name as aliases are kept: in lower case, without accents and outer spaces. */
export function aliasOf(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .trim()
    .replace(/\s+/g, ' ')
    .toLowerCase()
}
