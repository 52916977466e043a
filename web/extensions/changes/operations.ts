import type { ReleaseChanges } from '#src/extensions/changes/schemas.ts'
import type { OperationsPart } from '../../operations/part.ts'
import { section } from '../../parts/blocks.ts'
import { formOf } from '../../parts/form.ts'
import { numberColumns, tableOf } from '../../parts/table.ts'
import { button, element } from '../../shell/element.ts'
import { numberText } from '../../texts/names.ts'
import { comparison } from './texts.ts'

/**
 * The changes from one release to another, before it is published or after. Codes are typed, or taken over from the
 * list of releases.
 */
export const part: OperationsPart = ({ session, left }, { releases }) => {
  const result = element('div', { 'aria-live': 'polite' })
  const options = releases.map(({ release }) => element('option', { value: release }))
  const codes = element('datalist', { id: 'releases' }, ...options)
  const attributes = { required: true, list: 'releases', autocomplete: 'off' }
  const form = formOf({
    fields: [
      { name: 'after', label: comparison.after, hint: comparison.afterHint, attributes },
      { name: 'before', label: comparison.before, attributes },
      {
        ...{ name: 'threshold', label: comparison.threshold },
        ...{ type: 'number', value: '10', attributes: { min: 0, step: 'any' } },
      },
    ],
    action: comparison.compare,
    async submit({ after = '', before = '', threshold = '' }) {
      const path = `releases/${encodeURIComponent(before.trim())}/diff/${encodeURIComponent(after.trim())}`
      const { layers, worst } = await session.get<ReleaseChanges>(path, { threshold }, { signal: left })
      result.replaceChildren(changeTable(comparison.layers, layers), changeTable(comparison.worst, worst))
    },
  })

  function chooseAs(side: 'after' | 'before', release: string, label: string) {
    return button(label, () => {
      const input = form.elements.namedItem(side) as HTMLInputElement
      input.value = release
      input.focus()
    })
  }

  return {
    place: section(comparison.title, element('p', {}, comparison.why), codes, form, result),
    actionsOf: (release) => [
      chooseAs('after', release, comparison.asAfter),
      chooseAs('before', release, comparison.asBefore),
    ],
  }
}

function changeTable(caption: string, changes: ReleaseChanges['layers' | 'worst']) {
  const { area, layer, ...numbers } = comparison.columns
  return tableOf({
    caption,
    columns: [{ title: area }, { title: layer }, ...numberColumns(...Object.values(numbers))],
    rows: changes.map((one) => ({
      cells: [
        'name' in one ? one.name : comparison.all,
        [one.input, one.scenario].filter(Boolean).join(', '),
        ...[one.mean_before, one.mean_after, one.change_percent],
        ...[one.changed_percent, one.gained_percent, one.lost_percent],
      ],
    })),
    numberText,
  })
}
