import { type RawBuilder, sql } from 'kysely'

/**
 * The id of an account, or nothing where it is gone. Rows of its history outlive it until they are removed, and
 * another process may know its caller for some seconds: neither shows them to anybody.
 */
export function livingUser(id: string): RawBuilder<string> {
  return sql<string>`(select id from app_user where id = ${id})`
}
