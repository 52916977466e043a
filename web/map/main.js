import { get } from '../shell/api.js'
import { element } from '../shell/element.js'
import { frame } from '../shell/frame.js'
import { TEXTS } from '../texts/en.js'
import { createMapPage } from './page.js'

const main = frame('map')
await open()

async function open() {
  main.replaceChildren(element('p', { className: 'message', role: 'status' }, TEXTS.loading))
  try {
    await createMapPage(main, await get('catalog'))
  } catch (error) {
    main.replaceChildren(
      element(
        'p',
        { className: 'message', role: 'alert' },
        TEXTS.failed(/** @type {Error} */ (error).message),
      ),
      element('button', { type: 'button', onclick: open }, TEXTS.again),
    )
  }
}
