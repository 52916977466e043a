import type { ReleaseSummary } from '#schemas/catalog.ts'
import type { FieldChanges } from '#src/extensions/fields/schemas.ts'
import { formOf } from '../../parts/form.ts'
import { allItems } from '../../parts/session.ts'
import { tableOf } from '../../parts/table.ts'
import { valueFormat } from '../../parts/values.ts'
import { element, optionsOf } from '../../shell/element.ts'
import { TEXTS } from '../../texts/en.ts'
import { fileButton, type Source } from './shown.ts'
import { savedFields } from './texts.ts'

/** Which fields have changed since another release of the same product, country and crop. */
export async function changesForm({ session, collection, release, left }: Source) {
  const { product, country_code, crop } = release
  const releases = await allItems<ReleaseSummary>(session, 'releases', { product, country_code, crop }, left)
  const others = releases
    .filter((one) => one.release !== release.release && one.published_from !== null)
    .sort((a, b) => (b.published_from ?? '').localeCompare(a.published_from ?? ''))
  if (others.length === 0) return element('p', {}, savedFields.noEarlier)
  const result = element('div', { 'aria-live': 'polite' })
  const form = formOf({
    fields: [
      {
        name: 'since',
        label: savedFields.since,
        type: 'select',
        options: optionsOf(others.map((one) => one.release)),
      },
      {
        name: 'threshold',
        label: savedFields.threshold,
        type: 'number',
        value: '10',
        attributes: { min: 0, step: 'any', required: true },
      },
    ],
    action: savedFields.compare,
    async submit({ since = '', threshold = '' }) {
      const path = `fields/${encodeURIComponent(collection)}/changes`
      const query = { since, threshold, release: release.release }
      const changes = await session.get<FieldChanges>(path, query, { signal: left })
      const name = `${collection}-changes.csv`
      result.replaceChildren(
        fileButton(session, TEXTS.download, { path, query, name }),
        tableOfChanges(changes),
      )
    },
  })
  return element('div', {}, form, result)
}

const LABELS = ['input', 'scenario', 'condition'] as const

/** A row for each value that has changed, and for each field that cannot be compared. */
function tableOfChanges({ unit, items }: FieldChanges) {
  const { columns } = savedFields
  const text = valueFormat(
    items.flatMap(({ changes }) => changes.flatMap(({ before, after }) => [before, after])),
  )
  const byCondition = items.some(({ changes }) => changes.some(({ condition }) => condition !== undefined))
  const labels = byCondition ? LABELS : LABELS.filter((label) => label !== 'condition')
  const rows = items.flatMap(({ id, name, changes, error }) =>
    error === undefined
      ? changes.map((change) => ({
          cells: [
            ...[id, name, ...labels.map((label) => change[label])],
            ...[change.before, change.after, change.change_percent],
          ],
        }))
      : [{ cells: [id, name, ...labels.map(() => null), null, null, null, error], mark: 'wrong' }],
  )
  return tableOf({
    caption: savedFields.changesCaption(unit),
    columns: [
      ...[columns.id, columns.name, ...labels.map((label) => TEXTS.choosers[label])].map((title) => ({
        title,
      })),
      ...[columns.before, columns.after].map((title) => ({ title, number: true, text })),
      { title: columns.change, number: true },
      { title: columns.reason },
    ],
    rows,
  })
}
