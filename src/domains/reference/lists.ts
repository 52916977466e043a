import { nameKey, wordKey } from '#src/lib/name-key.ts'

/** A list that operators keep: its tables, and how they speak of it. */
export interface ReferenceList {
  table: 'country' | 'crop'
  aliasTable: 'country_alias' | 'crop_alias'
  /** Names the entry, in the table of its aliases and wherever else it is referred to. */
  column: 'country_code' | 'crop_code'
  /** The command that changes it. */
  command: string
  codeForm: RegExp
  codeRule: string
  /** What a code, a name or an alias is looked up by. */
  keyOf(name: string): string
}

export const COUNTRIES: ReferenceList = {
  table: 'country',
  aliasTable: 'country_alias',
  column: 'country_code',
  command: 'agro countries',
  codeForm: /^[a-z]{3}$/,
  codeRule: 'three small letters (ISO 3166-1 alpha-3), for example tza',
  keyOf: nameKey,
}

export const CROPS: ReferenceList = {
  table: 'crop',
  aliasTable: 'crop_alias',
  column: 'crop_code',
  command: 'agro crops',
  codeForm: /^[a-z][a-z0-9-]{0,49}$/,
  codeRule:
    'small letters, digits and hyphens, begins with a letter and has at most 50, for example sweet-potato',
  keyOf: wordKey,
}

/** What an entry of either list has. */
export interface Entry {
  code: string
  name: string
}
