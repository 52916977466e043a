import { TEXTS } from '../texts/en.ts'

/**
 * Makes an element.
 *
 * @param properties of the element where it has one of that name (`onclick`, `className`), else attributes
 * (`aria-label`); undefined, null and false are left out
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Record<string, unknown> = {},
  ...children: (Node | string | null | undefined | false)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (name in made && !name.startsWith('aria-') && name !== 'list') Reflect.set(made, name, value)
    else made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false))
  return made
}

/** A button that is not the first choice, or looks like a link. */
export function button(
  label: string,
  onclick: () => unknown,
  className: 'quiet' | 'link' | 'sort' = 'quiet',
  attributes: Record<string, unknown> = {},
) {
  return element('button', { type: 'button', className, onclick, ...attributes }, label)
}

/** A label with the control that it is for. */
export function labelled(text: string, control: HTMLElement) {
  return element('label', { className: 'field' }, element('span', {}, text), control)
}

type Options = readonly { value: string; text: string }[]

export const optionElements = (options: Options, chosen?: string | null) =>
  options.map(({ value, text }) => element('option', { value, selected: value === chosen }, text))

export function select(options: Options, chosen: string | null, choose: (value: string) => void) {
  const made = element('select', {}, ...optionElements(options, chosen))
  made.addEventListener('change', () => choose(made.value))
  return made
}

/** Options of a chooser, each with its name. */
export const optionsOf = (values: readonly string[], nameOf = (value: string) => value) =>
  values.map((value) => ({ value, text: nameOf(value) }))

/** A chooser with its label; who is at it stays at it by its name, where it is made anew. */
export function chooser(label: string, name: string, ...wanted: Parameters<typeof select>) {
  const control = select(...wanted)
  control.name = name
  return labelled(label, control)
}

/** A button that copies, and says that it has. */
export function copyButton(label: string, text: () => string) {
  const button = element('button', { type: 'button', className: 'quiet' }, label)
  const said = element('span', { role: 'status', className: 'small' })
  button.addEventListener('click', async () => {
    await copy(text())
    said.textContent = TEXTS.copied
  })
  return element('p', { className: 'copy' }, button, ' ', said)
}

/** Browsers have a clipboard where the address is a safe one alone; elsewhere what is selected is copied. */
async function copy(text: string) {
  if (navigator.clipboard) {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (copied) return
  }
  const area = element('textarea', { className: 'unseen', value: text })
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/**
 * Puts new controls where others are; whoever was at one of them is at the new one of its name.
 *
 * @returns whether that is there
 */
export function replaceControls(room: HTMLElement, ...content: (Node | string)[]): boolean {
  const active = document.activeElement
  const name = active && room.contains(active) ? active.getAttribute('name') : null
  room.replaceChildren(...content)
  const again =
    name &&
    [...room.querySelectorAll('[name]')].find(
      (one) =>
        one.getAttribute('name') === name &&
        !(one instanceof HTMLInputElement && one.type === 'radio' && !one.checked),
    )
  if (!(again instanceof HTMLElement)) return false
  again.focus()
  return true
}
