import { Command } from 'commander'
import { type LayerSummary, listLayers } from '#src/domains/releases/layer-queries.ts'
import { type ReleaseRow, requireRelease } from '#src/domains/releases/queries.ts'
import { shortNumber } from '#src/lib/round.ts'
import { isStale, lastDayOf } from '#src/products/season.ts'
import { lookInDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { stateOf } from './releases-state.ts'
import { table } from './table.ts'

export const showCommand = new Command('show')
  .description('Show a release: where it comes from, its layers, and what the checks have found in it.')
  .argument('<release>', 'its code')
  .option(...JSON_OPTION)
  .action((code: string, output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const { id, lockless: _, ...release } = await requireRelease(writer, code)
      const layers = await listLayers(writer, id)
      print(output, { ...release, state: stateOf(release), layers }, textOf(release, layers))
    }),
  )
withExamples(showCommand, 'agro releases show yield-eth-wheat-2026-08-v2')

function textOf(release: Omit<ReleaseRow, 'id' | 'lockless'>, layers: LayerSummary[]): string {
  const rows = layers.map(({ input, scenario, unit, validCount, width, height, ...values }) => [
    [input, scenario].filter((label) => label !== null).join(', '),
    unit,
    `${((100 * validCount) / (width * height)).toFixed(2)} %`,
    ...[values.minimum, values.maximum, values.mean].map((value) =>
      value === null ? 'none' : shortNumber(value),
    ),
  ])
  return [
    `${release.code}: ${stateOf(release)}`,
    `source: ${release.source}`,
    `licence: ${release.licence}`,
    ...seasonText(release),
    table(['LAYER', 'UNIT', 'VALID', 'MINIMUM', 'MAXIMUM', 'MEAN'], rows),
    ...findingsText(release),
  ].join('\n')
}

function seasonText(release: Omit<ReleaseRow, 'id' | 'lockless'>): string[] {
  const last = lastDayOf(release)
  if (last === null) return []
  return [
    `valid until: ${last}${isStale(release, Date.now()) ? ', which is over: answers say that they are stale' : ''}`,
  ]
}

function findingsText({ findings }: Pick<ReleaseRow, 'findings'>): string[] {
  if (findings === null) return ['It was loaded without checks.']
  if (findings.length === 0) return ['The checks have found nothing.']
  return findings.map(
    ({ check, level, sentence, allowed }) => `${allowed ? 'allowed' : level}: ${sentence} (${check})`,
  )
}
