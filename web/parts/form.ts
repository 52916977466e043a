import { element } from '../shell/element.ts'

interface Wanted {
  fields: Field[]
  /** The label of its button. */
  action: string
  submit: (values: Record<string, string>) => Promise<unknown>
  dangerous?: boolean
  /** Other buttons. */
  beside?: HTMLElement[]
}

export interface Field {
  /** As the service calls it, so that it can say what is wrong with it. */
  name: string
  label: string
  /** Of the input; `textarea`, `select` and `checkbox` are taken, too. */
  type?: string
  hint?: string
  /** Of a select. */
  options?: { value: string; text: string; selected?: boolean }[]
  attributes?: Record<string, unknown>
}

type Problem = Error & { details?: { field: string; message: string }[] }

/** A form that says what is wrong beside the field that it is about, and is busy until its work is done. */
export function formOf({ fields, action, submit, dangerous = false, beside = [] }: Wanted): HTMLFormElement {
  const problem = element('p', { class: 'problem', role: 'alert', hidden: true })
  const button = element('button', { type: 'submit', class: dangerous ? 'danger' : 'primary' }, action)
  const form = element(
    'form',
    { class: 'fields', novalidate: true },
    ...fields.map(rowOf),
    problem,
    element('div', { class: 'actions' }, button, ...beside),
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.getAttribute('aria-disabled') === 'true') return
    say(null)
    // A button that is disabled would lose the focus.
    button.setAttribute('aria-disabled', 'true')
    try {
      await submit(valuesIn(form))
    } catch (error) {
      say(error as Problem)
    } finally {
      button.removeAttribute('aria-disabled')
    }
  })

  function say(error: Problem | null) {
    for (const { name } of fields) mark(form, name, '')
    problem.hidden = error === null
    problem.replaceChildren(error?.message ?? '')
    const wrong = (error?.details ?? []).filter(({ field }) => fields.some(({ name }) => name === field))
    for (const { field, message } of wrong) mark(form, field, message)
    const first = wrong[0] && form.elements.namedItem(wrong[0].field)
    if (first instanceof HTMLElement) first.focus()
  }

  return form
}

function rowOf({ name, label, type = 'text', hint, options = [], attributes = {} }: Field) {
  const id = `${name}-${Math.random().toString(36).slice(2)}`
  const described = hint === undefined ? `${id}-wrong` : `${id}-hint ${id}-wrong`
  const common = { id, name, 'aria-describedby': described, ...attributes }
  const input =
    type === 'select'
      ? element('select', common, ...options.map(({ text, ...option }) => element('option', option, text)))
      : type === 'textarea'
        ? element('textarea', common)
        : element('input', { type, ...common })
  const caption = element('label', { for: id }, label)
  const rest = [
    hint !== undefined && element('span', { id: `${id}-hint`, class: 'hint' }, hint),
    element('span', { id: `${id}-wrong`, class: 'wrong' }),
  ]
  return type === 'checkbox'
    ? element('div', { class: 'row tick' }, input, caption, ...rest)
    : element('div', { class: 'row' }, caption, input, ...rest)
}

/** Says what is wrong with a field, or nothing more. */
export function mark(form: HTMLFormElement, name: string, message: string) {
  const input = form.elements.namedItem(name)
  if (!(input instanceof HTMLElement)) return
  if (message === '') input.removeAttribute('aria-invalid')
  else input.setAttribute('aria-invalid', 'true')
  document.getElementById(`${input.id}-wrong`)?.replaceChildren(message)
}

/** Texts of the fields by name, and `on` of a ticked box. */
function valuesIn(form: HTMLFormElement) {
  const values: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') values[name] = value
  return values
}

/**
 * A place that a file is dropped on, or chosen at.
 *
 * @param take says what it has taken, or throws what is wrong with it, perhaps with an `offer` below
 */
export function dropZone(label: string, accept: string, take: (file: File) => Promise<string>) {
  const said = element('span', { role: 'status' })
  const input = element('input', { type: 'file', accept })
  const zone = element(
    'div',
    { class: 'drop' },
    element('label', {}, element('span', {}, label), input),
    said,
  )

  async function taken(file: File | undefined) {
    if (!file) return
    zone.classList.remove('wrong')
    said.textContent = ''
    try {
      said.textContent = await take(file)
    } catch (error) {
      zone.classList.add('wrong')
      const { message, offer = '' } = error as Error & { offer?: Node }
      said.replaceChildren(message, offer)
    }
  }

  input.addEventListener('change', () => taken(input.files?.[0]))
  for (const type of ['dragenter', 'dragover']) {
    zone.addEventListener(type, (event) => {
      event.preventDefault()
      zone.classList.add('over')
    })
  }
  zone.addEventListener('dragleave', () => zone.classList.remove('over'))
  zone.addEventListener('drop', (event) => {
    event.preventDefault()
    zone.classList.remove('over')
    void taken(event.dataTransfer?.files[0])
  })
  return zone
}
