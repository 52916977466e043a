import { TEXTS } from '../texts/en.ts'
import { element } from './element.ts'

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
