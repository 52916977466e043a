import type { Transaction } from 'kysely'
import { COUNTRIES, CROPS } from '#src/catalog/reference-queries.ts'
import type { Database } from '#src/data/database.ts'
import type { Tables } from '#src/data/tables.ts'
import {
  addAliases,
  addEntry,
  offerCrop,
  removeEntry,
  renameEntry,
} from '#src/extensions/reference/change-queries.ts'

/** What an operator does with countries and crops, each in a transaction of its own. */
export function operatorOf({ writer }: Database) {
  const change = <Result>(work: (trx: Transaction<Tables>) => Promise<Result>) =>
    writer.transaction().execute(work)
  return {
    addCountry: (code: string, name: string) => change((trx) => addEntry(trx, COUNTRIES, code, name)),
    renameCountry: (code: string, name: string) => change((trx) => renameEntry(trx, COUNTRIES, code, name)),
    nameCountry: (code: string, ...names: string[]) =>
      change((trx) => addAliases(trx, COUNTRIES, code, names)),
    removeCountry: (code: string) => change((trx) => removeEntry(trx, COUNTRIES, code)),
    removeCrop: (code: string) => change((trx) => removeEntry(trx, CROPS, code)),
    nameCrop: (code: string, ...names: string[]) => change((trx) => addAliases(trx, CROPS, code, names)),
    addCrop: (code: string, name: string) => change((trx) => addEntry(trx, CROPS, code, name)),
    offer: (country: string, crop: string) => change((trx) => offerCrop(trx, country, crop)),
  }
}
