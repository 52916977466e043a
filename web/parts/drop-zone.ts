import { element } from '../shell/element.ts'

/**
 * A place that a file is dropped on, or chosen at.
 *
 * @param {string} label
 * @param {string} accept
 * @param {(file: File) => Promise<string | void>} take says what it has taken, or throws what is wrong with it
 */
export function dropZone(label, accept, take) {
  const said = element('span', { role: 'status' })
  const input = element('input', { type: 'file', accept })
  const zone = element(
    'div',
    { class: 'drop' },
    element('label', {}, element('span', {}, label), input),
    said,
  )

  /** @param {File | undefined} file */
  async function taken(file) {
    if (!file) return
    zone.classList.remove('wrong')
    said.textContent = ''
    try {
      said.textContent = (await take(file)) ?? ''
    } catch (error) {
      zone.classList.add('wrong')
      said.textContent = /** @type {Error} */ (error).message
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
