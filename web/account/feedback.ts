import type { Feedback } from '#schemas/feedback.ts'
import type { HistoryItem } from '#schemas/history.ts'
import type { Catalog } from '../api-types.ts'
import { formOf } from '../parts/form.ts'
import { newName, type Session } from '../parts/session.ts'
import { element, optionsOf } from '../shell/element.ts'
import { feedback } from '../texts/en.ts'

const RATINGS = ['1', '2', '3', '4', '5']

/** The caller's feedback on an item of the history; the form begins with the former one, and replaces it. */
export function feedbackForm(session: Session, item: HistoryItem, catalog: Catalog) {
  const given = item.feedback
  const summary = element('summary', {}, titleOf(given))
  const value = observable(item, catalog)
  const observed = given?.observed ?? {}
  const form = formOf({
    fields: [
      {
        name: 'rating',
        label: feedback.rating,
        type: 'select',
        options: optionsOf(RATINGS, (rating) => feedback.ratings[rating] ?? rating),
        value: String(given?.rating ?? 4),
      },
      {
        name: 'comment',
        label: feedback.comment,
        type: 'textarea',
        value: given?.comment ?? '',
        attributes: { maxlength: 2000 },
      },
      ...(value === undefined
        ? []
        : [
            {
              name: 'observed',
              label: feedback.observed(value.unit),
              type: 'number',
              value: String(observed[value.key] ?? ''),
              attributes: { min: 0, step: 'any' },
            },
          ]),
      {
        name: 'harvested_on',
        label: feedback.harvested,
        type: 'date',
        value: String(observed.harvested_on ?? ''),
      },
    ],
    action: feedback.send,
    async submit({ rating, comment = '', observed: seen = '', harvested_on = '' }) {
      const values = {
        ...(value && seen !== '' && { [value.key]: Number(seen) }),
        ...(harvested_on !== '' && { harvested_on }),
      }
      const said = {
        rating: Number(rating),
        ...(comment !== '' && { comment }),
        ...(Object.keys(values).length > 0 && { observed: values }),
      }
      const headers = { 'idempotency-key': newName() }
      const kept = await session.send<Feedback>(`history/${item.id}/feedback`, said, { headers })
      summary.replaceChildren(titleOf(kept))
      box.open = false
      summary.focus()
    },
  })
  const box = element('details', { class: 'feedback' }, summary, form)
  return box
}

function titleOf(given: Feedback | null) {
  return given ? feedback.given(given.rating) : feedback.title
}

/**
 * The value that can be seen in the field; none of what has no season, and none where several inputs share a key.
 */
function observable({ product }: HistoryItem, { products }: Catalog) {
  const found = products.find((one) => one.product === product)
  return found?.needs_crop ? found.value : undefined
}
