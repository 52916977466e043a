import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import {
  type AdminCountry,
  type AreaFilter,
  type AreaRow,
  findAdminCountry,
  hasAreaAbove,
  listAreas,
  listCountryCodes,
} from './queries.ts'

/** Where answers have areas from. */
export interface AreaSource {
  /** The country that a code or name is of, with what is loaded of it. */
  country(name: string, level: number): Promise<AdminCountry | undefined>
  countryCodes(): Promise<string[]>
  /** Whether a country has an area with a code above a level. */
  hasAreaAbove(country: AdminCountry, level: number, code: string): Promise<boolean>
  /** A page of the areas of a level, in the order of their codes. */
  page(filter: AreaFilter): Promise<AreaRow[]>
}

/** The areas as the database has them at the moment. */
export function storedAreas(db: Kysely<Tables>): AreaSource {
  return {
    country: (name, level) => findAdminCountry(db, name, level),
    countryCodes: () => listCountryCodes(db),
    hasAreaAbove: ({ code: countryCode }, level, code) => hasAreaAbove(db, countryCode, level, code),
    page: (filter) => listAreas(db, filter),
  }
}
