import { element } from '../shell/element.ts'

/**
 * A place that a file is dropped on, or chosen at.
 *
 * @param take says what it has taken, or throws what is wrong with it
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
      said.textContent = (error as Error).message
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
