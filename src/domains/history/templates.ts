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
  /** Has all be asked for anew: the database is not the one that it was. */
  forget(): void
}

type Known = StoredTemplate | Promise<StoredTemplate>

/** Makes what stores templates, each when an answer has it for the first time. */
export function createTemplates(db: Kysely<Tables>): Templates {
  // Those of releases go with them.
  let ofReleases = new WeakMap<AnswerTemplate, Known>()
  const plain = new Map<string, Known>()

  function ask(record: AdvisoryRecord, known: Pick<Map<unknown, Known>, 'set' | 'delete'>, key: unknown) {
    const asked = findTemplate(db, record)
    known.set(key, asked)
    asked.then(
      (found) => known.set(key, found),
      () => known.delete(key),
    )
    return asked
  }

  return {
    of(record) {
      const { answer, product, kind, countryCode, releases } = record
      if (answer instanceof TemplatedAnswer) {
        const known = ofReleases as unknown as Map<unknown, Known>
        return ofReleases.get(answer.template) ?? ask(record, known, answer.template)
      }
      const key = JSON.stringify([product, kind, countryCode, releases])
      if (plain.size >= MOST_PLAIN_TEMPLATES) plain.clear()
      return plain.get(key) ?? ask(record, plain, key)
    },
    forget() {
      ofReleases = new WeakMap()
      plain.clear()
    },
  }
}
