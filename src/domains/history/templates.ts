import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { type AdvisoryRecord, type AnswerTemplate, TemplatedAnswer } from './queries.ts'
import { findTemplate, type StoredTemplate } from './recording-queries.ts'

/** Of answers that are kept as a whole. There are fewer releases. */
const MOST_PLAIN_TEMPLATES = 1000

/** What is stored of the templates of answers. */
export interface Templates {
  /** The template of an answer; a promise of it where the database has to be asked, once for all who want it. */
  of(record: AdvisoryRecord): StoredTemplate | Promise<StoredTemplate>
  /** Has the template of an answer be asked for anew, where it is still this one, which the database has not any more. */
  forget(record: AdvisoryRecord, stored: StoredTemplate): void
}

type Known = StoredTemplate | Promise<StoredTemplate>

/** Templates by what they are of. */
interface Store {
  get(key: unknown): Known | undefined
  set(key: unknown, known: Known): unknown
  delete(key: unknown): unknown
}

/** Makes what stores templates, each when an answer has it for the first time. */
export function createTemplates(db: Kysely<Tables>): Templates {
  // Those of releases go with them.
  const ofReleases = new WeakMap<AnswerTemplate, Known>() as Store
  const plain = new Map<unknown, Known>()

  function placeOf({ answer, product, kind, countryCode, releases }: AdvisoryRecord): [Store, key: unknown] {
    if (answer instanceof TemplatedAnswer) return [ofReleases, answer.template]
    return [plain, JSON.stringify([product, kind, countryCode, releases])]
  }

  function ask(record: AdvisoryRecord, store: Store, key: unknown) {
    const asked = findTemplate(db, record)
    store.set(key, asked)
    const isAwaited = () => store.get(key) === asked
    asked.then(
      (found) => isAwaited() && store.set(key, found),
      () => isAwaited() && store.delete(key),
    )
    return asked
  }

  return {
    of(record) {
      const [store, key] = placeOf(record)
      if (plain.size >= MOST_PLAIN_TEMPLATES) plain.clear()
      return store.get(key) ?? ask(record, store, key)
    },
    forget(record, stored) {
      const [store, key] = placeOf(record)
      if (store.get(key) === stored) store.delete(key)
    },
  }
}
