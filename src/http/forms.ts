/** The forms in which many places are sent and answered. */
export const FORMS = ['application/json', 'application/x-ndjson', 'text/csv', 'application/geo+json'] as const
export type Form = (typeof FORMS)[number]

/** Of each form, in which ones it is answered: where `Accept` does not say, in its own. */
export const OFFERS = Object.fromEntries(
  FORMS.map((form) => [form, [form, ...FORMS.filter((other) => other !== form)]]),
) as Record<Form, [Form, ...Form[]]>

/** What an answer in a form says that it is. */
export function mediaTypeOf(form: string): string {
  if (form === 'text/csv') return 'text/csv; charset=utf-8; header=present'
  return form === 'application/json' ? 'application/json; charset=utf-8' : form
}
