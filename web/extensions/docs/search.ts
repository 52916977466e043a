import { element } from '../../shell/element.ts'
import { ROOT } from '../../shell/frame.ts'
import { TEXTS } from '../../texts/en.ts'
import { docs } from './texts.ts'

/** A chapter of a guide, an operation, or a code of errors. */
export interface Entry {
  /** Relative to the folder of the documentation. */
  href: string
  title: string
  where: string
  text: string
}

/** Words for the same: what is looked for in one is found in all. */
const SAME = `
  fertilizer,fertiliser,urea,dap,npk; isfm,organic,manure,compost; forage,fodder,pasture,grass,livestock;
  yield,harvest,production; webhook,webhooks,subscription,callback,notification,messages of changes;
  bulk,batch,many points,mass,upload;
  authentication,authorization,authenticate,oauth,jwt,bearer,token,log in,login; register,signup,account;
  apikey,key; district,districts,region,woreda,zone,ward,admin,administrative area;
  field,polygon,plot,parcel,farm; coordinates,latitude,longitude,lat,position,gps;
  place,geocode,gazetteer,village,town; limit,limits,quota,throttle,throttling,rate limit;
  retry,repeat,again,idempotency; paging,pagination,page,cursor;
  uncertainty,confidence,probability,odds,certainty,range; sdk,library,client; excel,spreadsheet,csv;
  geotiff,tiff,raster,rasters; sms,ussd,telegram,whatsapp,text message; offline,download,pack;
  cost,money,price,prices,budget; llm,mcp,assistant,agent,chatgpt; qgis,gis,ogc,wms,wfs,tiles`
  .split(';')
  .map((words) => words.trim().split(','))

/** Results that are shown at most. */
const MOST = 20

/** Small letters and digits with blanks between: numbers without the commas of thousands. */
const plain = (text: string) =>
  ` ${text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/(\d),(?=\d{3})/g, '$1')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, ' ')}`

/** Finds entries that have each word, or another for the same. The best are the first. */
export function find(entries: readonly Entry[], phrase: string): Entry[] {
  const words = plain(phrase).split(' ').filter(Boolean)
  if (words.length === 0) return []
  const wanted = words.map((word) => [word, ...SAME.flatMap((same) => (same.includes(word) ? same : []))])
  const scored = entries.map((entry) => {
    const [title, where, text] = [plain(entry.title), plain(entry.where), plain(entry.text)]
    const scores = wanted.map((others) =>
      others.reduce((best, word, at) => {
        const score = (title.includes(` ${word}`) ? 8 : 0) + (where.includes(` ${word}`) ? 3 : 0)
        const found = score + (text.includes(` ${word}`) ? 1 : 0)
        return Math.max(best, at === 0 ? 2 * found : found)
      }, 0),
    )
    return { entry, score: scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0) }
  })
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)
  return found.slice(0, MOST).map(({ entry }) => entry)
}

let entries: Promise<Entry[]> | undefined

async function load(): Promise<Entry[]> {
  const answer = await fetch(new URL('docs/search.json', ROOT))
  if (!answer.ok) throw new Error(String(answer.status))
  return answer.json()
}

/**
 * Makes the search: a button, and a window that it or Ctrl-K opens.
 *
 * @param addressOf makes an address of that of an entry
 */
export function createSearch(addressOf: (href: string) => string) {
  const box = element('input', {
    type: 'search',
    'aria-label': docs.search,
    placeholder: docs.searchHint,
  })
  const count = element('p', { className: 'small', role: 'status' })
  const results = element('ul', { className: 'found' })
  const dialog = element('dialog', { className: 'search', 'aria-label': docs.search }, box, count, results)

  async function show() {
    const phrase = box.value.trim()
    entries ??= load()
    const all = await entries.catch(() => null)
    // Another letter was typed meanwhile.
    if (phrase !== box.value.trim()) return
    if (all === null) entries = undefined
    const found = find(all ?? [], phrase)
    results.replaceChildren(...found.map((entry) => rowOf(entry, phrase, addressOf)))
    count.textContent = all === null ? TEXTS.unreachable : phrase && docs.found(found.length, phrase)
  }

  function open() {
    if (!dialog.open) dialog.showModal()
    box.select()
    void show()
  }

  box.addEventListener('input', () => void show())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close()
  })
  dialog.addEventListener('keydown', (event) => moveIn([box, ...results.querySelectorAll('a')], event))
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    open()
  })
  const button = element(
    'button',
    { type: 'button', className: 'quiet search-button', onclick: open, 'aria-keyshortcuts': 'Control+K' },
    docs.search,
    element('kbd', { className: 'small' }, docs.keys),
  )
  return { button, dialog }
}

/** Arrows go through the results, and Enter in the box opens the first. */
function moveIn(stops: HTMLElement[], event: KeyboardEvent) {
  const at = stops.indexOf(document.activeElement as HTMLElement)
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step !== undefined && at >= 0) {
    event.preventDefault()
    stops[at + step]?.focus()
  } else if (event.key === 'Enter' && at === 0) stops[1]?.click()
}

/** Letters of a text around what was found. */
const [BEFORE, BEHIND] = [40, 110]

function rowOf({ href, title, where, text }: Entry, phrase: string, addressOf: (href: string) => string) {
  const at = text.toLowerCase().indexOf(phrase.toLowerCase()) - BEFORE
  // From a word on.
  const excerpt =
    at > 0 ? text.slice(at, at + BEFORE + BEHIND).replace(/^\S*\s/, '… ') : text.slice(0, BEHIND)
  return element(
    'li',
    {},
    element(
      'a',
      { href: addressOf(href) },
      element('strong', {}, title),
      element('span', { className: 'small' }, where),
      element('span', { className: 'excerpt' }, excerpt),
    ),
  )
}
