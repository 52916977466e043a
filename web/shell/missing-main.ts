import { mapTexts, TEXTS } from '../texts/en.ts'
import { element } from './element.ts'
import { frame } from './frame.ts'

// What a browser gets for an address where nothing is; the head leads on.

const { title, why } = mapTexts.missing
const main = frame(null)
main.classList.add('page')
document.title = `${title} – ${TEXTS.name}`
main.append(element('h2', {}, title), element('p', {}, why(location.pathname)))
