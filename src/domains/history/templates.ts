import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { type AdvisoryRecord, type AnswerTemplate, TemplatedAnswer } from './queries.ts'
import { findTemplate, type StoredTemplate } from './recording-queries.ts'

/** Of answers that are kept as a whole. There are fewer releases. */
const MOST_PLAIN_TEMPLATES = 1000

/** What is stored of the templates of answers. */
export interface Templates {
  /** The template of an answer; undefined where the database has to be asked. */
  known(record: AdvisoryRecord): StoredTemplate | undefined
  /** The same from the database, which is asked once for all who want it. */
  find(record: AdvisoryRecord): Promise<StoredTemplate>
  /** Has the template of an answer be asked for anew, where it is still this one, which the database has not any more. */
  forget(record: AdvisoryRecord, stored: StoredTemplate): void
}

interface Entry {
  found: Promise<StoredTemplate>
  /** Undefined while the database is asked. */
  stored?: StoredTemplate
}

/** Templates by what they are of. */
interface Store {
  get(key: unknown): Entry | undefined
  set(key: unknown, entry: Entry): unknown
  delete(key: unknown): unknown
}

/** Makes what stores templates, each when an answer has it for the first time. */
export function createTemplates(db: Kysely<Tables>): Templates {
  // Those of releases go with them.
  const ofReleases = new WeakMap<AnswerTemplate, Entry>() as Store
  const plain = new Map<unknown, Entry>()

  function placeOf({ answer, product, kind, countryCode, releases }: AdvisoryRecord): [Store, key: unknown] {
    if (answer instanceof TemplatedAnswer) return [ofReleases, answer.template]
    return [plain, JSON.stringify([product, kind, countryCode, releases])]
  }

  function ask(record: AdvisoryRecord, store: Store, key: unknown): Promise<StoredTemplate> {
    const entry: Entry = { found: findTemplate(db, record) }
    if (plain.size >= MOST_PLAIN_TEMPLATES) plain.clear()
    store.set(key, entry)
    entry.found.then(
      (stored) => {
        entry.stored = stored
      },
      () => store.get(key) === entry && store.delete(key),
    )
    return entry.found
  }

  return {
    known(record) {
      const [store, key] = placeOf(record)
      return store.get(key)?.stored
    },
    find(record) {
      const [store, key] = placeOf(record)
      return store.get(key)?.found ?? ask(record, store, key)
    },
    forget(record, stored) {
      const [store, key] = placeOf(record)
      if (store.get(key)?.stored === stored) store.delete(key)
    },
  }
}
