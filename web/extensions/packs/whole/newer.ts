import type { Pack } from '#src/extensions/packs/reading.ts'
import { element } from '../../../shell/element.ts'
import { texts } from './texts.ts'

/** An entity tag without the mark of a weak one. */
const strong = (tag: string | null) => tag?.replace(/^W\//, '') ?? null

/** Whether the service has another file for the area now: one `HEAD`. @throws {TypeError} without a network */
async function hasNewer({ tag, url }: NonNullable<Pack['version']>): Promise<boolean> {
  const answer = await fetch(url, { method: 'HEAD', cache: 'no-store', credentials: 'omit' })
  const now = strong(answer.headers.get('etag'))
  if (!answer.ok || now === null) throw new TypeError(String(answer.status))
  return now !== strong(tag)
}

/** A switch, off at first, that asks the service for a newer file; false for a file that does not know where. */
export function newerSwitch({ version }: Pack): HTMLElement | false {
  if (!version) return false
  const said = element('p', { role: 'status' })
  const box = element('input', { type: 'checkbox', name: 'newer' })
  const check = async () => {
    if (!box.checked) return said.replaceChildren()
    try {
      const isOld = await hasNewer(version)
      // It may have been switched off meanwhile.
      if (!box.checked) return said.replaceChildren()
      said.replaceChildren(
        ...(isOld
          ? [texts.newer.found, ' ', element('a', { href: version.url }, version.url)]
          : [texts.newer.none]),
      )
    } catch {
      said.replaceChildren(texts.newer.away)
    }
  }
  box.addEventListener('change', check)
  addEventListener('online', check)
  return element('div', { className: 'newer' }, element('label', {}, box, ' ', texts.newer.label), said)
}
