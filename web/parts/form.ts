import { element, optionElements } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

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
  /** What to do where it is empty and may not be, behind the label. */
  ask?: string
  /** Of the input; `textarea`, `select` and `checkbox` are taken, too. */
  type?: string
  hint?: string
  /** Of a select. */
  options?: { value: string; text: string }[]
  /** That it begins with. */
  value?: string | undefined
  attributes?: Record<string, unknown>
}

interface Detail {
  field: string
  message: string
}

type Problem = Error & { details?: Detail[] }

/** An error that a form says at one of its controls. */
export function wrongAt(name: string, message: string) {
  return Object.assign(new Error(message), { details: [{ field: name, message }] })
}

/**
 * A form that says what is wrong beside the field that it is about, once and by its label, and is busy until its work is
 * done. What is empty and may not be is not sent.
 */
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
    const missing = fields.filter(({ name }) => isMissing(form.elements.namedItem(name)))
    say(null)
    if (missing.length > 0) {
      return say(missing.map(({ name, ask = TEXTS.fillIn }) => ({ field: name, message: `${name} ${ask}` })))
    }
    // A button that is disabled would lose the focus.
    button.setAttribute('aria-disabled', 'true')
    try {
      await submit(valuesIn(form))
    } catch (error) {
      const { details = [], message } = error as Problem
      say(details, message)
    } finally {
      button.removeAttribute('aria-disabled')
    }
  })

  form.addEventListener('input', ({ target }) => sayAt(target as Element))

  /** @param message where none of the details is about a field of the form */
  function say(details: Detail[] | null, message = '') {
    for (const control of form.elements) sayAt(control)
    const isHere = ({ field }: Detail) => form.elements.namedItem(field) instanceof HTMLElement
    const here = details?.filter(isHere) ?? []
    const others = details?.filter((one) => !isHere(one)).map((one) => one.message) ?? []
    for (const { field, message: rule } of here) mark(form, field, sentenceOf(fields, field, rule))
    const said = here.length === 0 ? message : others.join(' ')
    problem.hidden = said === ''
    problem.replaceChildren(said)
    const first = here[0] && form.elements.namedItem(here[0].field)
    if (first instanceof HTMLElement) first.focus()
  }

  return form
}

/** A form in one line, of what a page shows. */
export function filterForm(
  action: string,
  fields: Field[],
  choose: (values: Record<string, string>) => void,
) {
  const form = formOf({ fields, action, submit: async (values) => choose(values) })
  form.classList.add('filters')
  return form
}

/** The dates of a period. */
export const periodFields = (from: string | undefined, to: string | undefined): Field[] => [
  { name: 'from', label: TEXTS.from, type: 'date', value: from },
  { name: 'to', label: TEXTS.to, type: 'date', value: to },
]

/** What the service says of a field begins with its name, which people know by its label, and is a rule for programs. */
function sentenceOf(fields: Field[], name: string, message: string) {
  const label = fields.find((one) => one.name === name)?.label ?? name
  const rule = message.slice(name.length + 1).replace(/^must be (.+?)( long)?$/, TEXTS.enter('$1'))
  const said = message.startsWith(`${name} `) ? `${label}: ${rule}` : message
  return /[.!?]$/.test(said) ? said : `${said}.`
}

function isMissing(control: Element | RadioNodeList | null) {
  return (
    (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) &&
    control.required &&
    control.value.trim() === '' &&
    control.closest('[hidden]') === null
  )
}

const newId = (name: string) => `${name}-${Math.random().toString(36).slice(2)}`

function rowOf({ name, label, type = 'text', hint, options = [], value, attributes = {} }: Field) {
  const id = newId(name)
  const described = hint === undefined ? `${id}-wrong` : `${id}-hint ${id}-wrong`
  const common = { id, name, 'aria-describedby': described, ...attributes }
  const input =
    type === 'select'
      ? element('select', common, ...optionElements(options, value))
      : type === 'textarea'
        ? element('textarea', { ...common, value })
        : element('input', { type, ...common, value })
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
export function mark(form: HTMLFormElement, name: string, ...said: string[]) {
  const input = form.elements.namedItem(name)
  if (input instanceof HTMLElement) sayAt(input, ...said)
}

function sayAt(control: Element, ...said: (Node | string)[]) {
  if (said.length === 0) control.removeAttribute('aria-invalid')
  else control.setAttribute('aria-invalid', 'true')
  document.getElementById(`${control.id}-wrong`)?.replaceChildren(...said)
}

/** Texts of the fields by name, and `on` of a ticked box. */
function valuesIn(form: HTMLFormElement) {
  const values: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') values[name] = value
  return values
}

/**
 * A place that a file is dropped on, or chosen at: the control `file` of a form that it is in.
 *
 * @param take says what it has taken, or throws what is wrong with it, perhaps with an `offer` below
 */
export function dropZone(label: string, accept: string, take: (file: File) => Promise<string>) {
  const said = element('span', { role: 'status' })
  const id = newId('file')
  const input = element('input', {
    type: 'file',
    accept,
    id,
    name: 'file',
    'aria-describedby': `${id}-wrong`,
  })
  const zone = element(
    'div',
    { class: 'drop' },
    element('label', {}, element('span', {}, label), input),
    said,
    element('span', { id: `${id}-wrong`, class: 'wrong', role: 'alert' }),
  )

  async function taken(file: File | undefined) {
    if (!file) return
    sayAt(input)
    said.textContent = ''
    try {
      said.textContent = await take(file)
    } catch (error) {
      const { message, offer = '' } = error as Error & { offer?: Node }
      sayAt(input, message, offer)
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
