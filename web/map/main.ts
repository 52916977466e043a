import type { Catalog } from '../api-types.ts'
import { get } from '../shell/api.ts'
import { element } from '../shell/element.ts'
import { frame } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import { createMapPage } from './page.ts'

const main = frame('map')
await open()

async function open() {
  main.replaceChildren(element('p', { className: 'message', role: 'status' }, TEXTS.loading))
  try {
    await createMapPage(main, await get<Catalog>('catalog'))
  } catch (error) {
    main.replaceChildren(
      element('p', { className: 'message', role: 'alert' }, TEXTS.failed((error as Error).message)),
      element('button', { type: 'button', onclick: open }, TEXTS.again),
    )
  }
}
