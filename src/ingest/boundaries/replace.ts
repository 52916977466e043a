import type { Transaction } from 'kysely'
import { recordOperation } from '#src/data/audit-queries.ts'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { round } from '#src/lib/round.ts'
import { type CodeRule, settleCodes } from './codes.ts'
import { type CountryPlace, linkParents, someOf } from './place.ts'
import {
  analyzeBoundaries,
  type BoundarySet,
  beginTrial,
  deleteApproximateBelow,
  lockBoundaries,
  type Replacement,
  relinkChildren,
  replaceLevel,
  undoTrial,
} from './queries.ts'
import {
  dropStaged,
  duplicateCodes,
  type Finding,
  levelWithTheSameAreas,
  nameStaged,
  type Repair,
  repairStaged,
  type StagedArea,
  stageAreas,
} from './staging-queries.ts'

interface ReplaceOptions {
  country: CountryPlace
  strict: boolean
  dryRun: boolean
  maxRepair?: number | undefined
  codes?: CodeRule | undefined
  dropped: Finding[]
  notes: string[]
  stored?: ((part: number) => void) | undefined
}

export interface LoadReport extends Replacement {
  notes: string[]
  repaired: Repair[]
  dropped: Finding[]
  coded: Finding[]
  reparented: Finding[]
  unnamed: number
  relinked: Finding[]
  approximateDeleted: number[]
}

/**
 * One transaction replaces the areas of a level.
 *
 * @throws {OperatorError} says in one sentence what is wrong
 */
export async function replaceBoundaries(
  database: Database,
  set: BoundarySet,
  areas: AsyncIterable<StagedArea>,
  options: ReplaceOptions,
): Promise<LoadReport> {
  const { level } = set
  const { country, strict, dryRun, codes, dropped, notes, stored = () => {} } = options
  return database.writer.transaction().execute(async (trx) => {
    if (dryRun) await beginTrial(trx)
    const staged = await stageAreas(trx, areas)
    if (strict && notes[0]) throw new OperatorError(`${notes[0]} --strict does not let that pass.`)
    const repaired = await repairStaged(trx)
    if (strict) refuseFindings('not valid', repaired)
    const { coded, dropped: withoutCode } = await settleCodes(trx, codes, staged)
    dropped.push(...withoutCode, ...(await dropStaged(trx)))
    if (strict) refuseFindings('not usable', dropped)
    refuseMostlyDropped(staged, dropped, codes)
    refuseLargeRepairs(repaired, dropped, options.maxRepair ?? MAX_REPAIR)
    const unnamed = await nameStaged(trx)
    await refuseMistakenAreas(trx, country, level)

    await lockBoundaries(trx)
    const reparented = await linkParents(trx, country, level)
    if (strict) refuseFindings('not linked to a parent by its code', reparented)
    const approximateDeleted = set.approximate ? [] : await deleteApproximateBelow(trx, country.code, level)
    const replacement = await replaceLevel(trx, set, stored)
    const relinked = (await relinkChildren(trx, country.code, level)).map(({ area, parent }) => ({
      area,
      reason: parent === null ? 'no area of the new level contains it' : `it is in ${parent} now`,
    }))
    if (strict) refuseFindings(`of level ${level + 1} and would lose their parent`, relinked)
    await analyzeBoundaries(trx)
    const detail = { country: country.code, level, areas: replacement.added + replacement.updated }
    await recordOperation(trx, { kind: 'boundaries_loaded', detail })
    if (dryRun) await undoTrial(trx)
    return {
      ...replacement,
      notes,
      repaired,
      dropped,
      coded,
      reparented,
      unnamed,
      relinked,
      approximateDeleted,
    }
  })
}

const NAMED_FINDINGS = 3

function someFindings(findings: Finding[]): string {
  const named = findings.slice(0, NAMED_FINDINGS).map(({ area, reason }) => `${area}: ${reason}`)
  return `${named.join('; ')}${findings.length > NAMED_FINDINGS ? ', ...' : ''}`
}

function refuseFindings(what: string, findings: Finding[]): void {
  if (findings.length === 0) return
  const areas = findings.length === 1 ? 'One area is' : `${findings.length} areas are`
  throw new OperatorError(`${areas} ${what} (${someFindings(findings)}): rejected by --strict.`)
}

/** Loops and holes drawn by mistake are small; a larger change needs a look. */
export const MAX_REPAIR = 0.01

function refuseLargeRepairs(repaired: Repair[], dropped: Finding[], most: number): void {
  const gone = new Set(dropped.map(({ area }) => area))
  const large = repaired.filter(({ area, changePercent }) => changePercent > 100 * most && !gone.has(area))
  if (large.length === 0) return
  const [areas, them] = large.length === 1 ? ['one area', 'it'] : [`${large.length} areas`, 'them']
  throw new OperatorError(
    `The repair of ${areas} changes ${them} by more than ${round(100 * most, 6)} % (${someFindings(large)}): mend the file, or let it pass by --max-repair.`,
  )
}

/** Leftovers of drawing are few; many are a misunderstanding. */
const MOSTLY = 0.5

function refuseMostlyDropped(staged: number, dropped: Finding[], codes: CodeRule | undefined): void {
  const [first] = dropped
  const tolerated = codes === 'skip' ? Math.max(staged, 1) - 1 : MOSTLY * Math.max(staged, dropped.length)
  if (!first || dropped.length <= tolerated) return
  throw new OperatorError(
    `${dropped.length} of the features are not areas that can be loaded; ${first.area} is not, because ${first.reason}.`,
  )
}

async function refuseMistakenAreas(
  trx: Transaction<Tables>,
  country: CountryPlace,
  level: number,
): Promise<void> {
  const { count, codes: duplicates } = await duplicateCodes(trx)
  if (level === 0 && count !== 1) {
    throw new OperatorError(`Level 0 is one area, the country; there are ${count}.`)
  }
  if (duplicates.length > 0) {
    const comes = duplicates.length === 1 ? 'One code comes' : `${duplicates.length} codes come`
    throw new OperatorError(
      `${comes} more than once: ${someOf(duplicates)}; --codes from-names makes others, and --codes skip leaves such areas out.`,
    )
  }
  const other = await levelWithTheSameAreas(trx, country.code, level)
  if (other !== undefined) {
    throw new OperatorError(
      `These areas are already loaded as level ${other} of ${country.name}: they are not of level ${level}.`,
      { code: 'ALREADY_THERE' },
    )
  }
}
