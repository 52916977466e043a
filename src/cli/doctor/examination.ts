import type { Kysely, Transaction } from 'kysely'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/database/client.ts'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import type { FileStore } from '#src/storage/store.ts'
import { type DoctorReport, error, type Finding, unknown } from './finding.ts'

/** A subject, and what is asked about it: each question for itself, named as monitoring knows it. */
export interface Group<Subject> {
  group: string
  questions: Record<string, (subject: Subject) => Finding[] | Promise<Finding[]>>
}

/** A database that is looked at, and what it belongs to. */
export interface Patient {
  config: Config
  kind: Database['kind']
  /** Asks the database something that changes nothing: it would refuse to. */
  ask: <Answer>(query: (trx: Transaction<Tables>) => Promise<Answer>) => Promise<Answer>
  /** The same of the replica, where there is one. */
  askReplica: Patient['ask']
  /** Those of TILE_STORE, where it names any. */
  files: FileStore | undefined
}

export type NamedFinding = DoctorReport['findings'][number]

/** Has a database answer questions in transactions that can only read. */
export function readingFrom(db: Kysely<Tables>): Patient['ask'] {
  return (query) => db.transaction().setAccessMode('read only').execute(query)
}

/**
 * Asks all questions of some groups, one after the other. One that cannot be answered keeps no other from
 * being asked, unless the database has gone: then each would wait for its deadline in vain.
 */
export async function examine<Subject>(groups: Group<Subject>[], subject: Subject): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = []
  let isGone = false
  for (const { group, questions } of groups) {
    for (const [check, look] of Object.entries(questions)) {
      const found: Finding[] = isGone
        ? [unknown('This could not be looked at either.')]
        : await answersTo(look, subject)
      isGone ||= found.includes(GONE)
      findings.push(...found.map((finding) => ({ group, check, ...finding })))
    }
  }
  return findings
}

const STATEMENT_TIMEOUT = '57014'

/** A function, a column or a table that is not there: those of migrations that are not applied. */
const NOT_THERE = ['42883', '42703', '42P01']

const GONE = error('The database answers no more.', 'Look at its log and at the network between.')

async function answersTo<Subject>(
  look: Group<Subject>['questions'][string],
  subject: Subject,
): Promise<Finding[]> {
  try {
    return await look(subject)
  } catch (caught) {
    if (codeOf(caught) === STATEMENT_TIMEOUT) return [unknown('The database took too long to answer this.')]
    if (isDatabaseUnavailable(caught)) return [GONE]
    const advice = NOT_THERE.includes(codeOf(caught) ?? '') ? 'Do first what is said of the schema.' : null
    return [unknown(`This could not be looked at: ${messageOf(caught).replace(/\.$/, '')}.`, advice)]
  }
}
