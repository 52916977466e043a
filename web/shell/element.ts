/**
 * Makes an element.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [properties] of the element where it has one of that name (`onclick`,
 *   `className`), else attributes (`aria-label`); what is undefined, null or false is left out
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (name in made && !name.startsWith('aria-') && name !== 'list') Reflect.set(made, name, value)
    else made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false))
  return made
}

/**
 * A label with the control that it is for.
 *
 * @param {string} text
 * @param {HTMLElement} control
 */
export function labelled(text, control) {
  return element('label', { className: 'field' }, element('span', {}, text), control)
}

/**
 * @param {readonly { value: string, text: string }[]} options
 * @param {string | null} chosen
 * @param {(value: string) => void} choose
 */
export function select(options, chosen, choose) {
  const made = element(
    'select',
    {},
    ...options.map(({ value, text }) => element('option', { value, selected: value === chosen }, text)),
  )
  made.addEventListener('change', () => choose(made.value))
  return made
}
