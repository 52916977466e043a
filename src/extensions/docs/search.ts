import MiniSearch, { type QueryCombination } from 'minisearch'

/** A chapter of a guide, an operation, or a code of errors. */
export interface Entry {
  /** Relative to the folder of the documentation. */
  href: string
  title: string
  where: string
  text: string
}

interface Result extends Omit<Entry, 'text'> {
  /** A part of the text, with the first of the words that were found. */
  excerpt: string
}

/** Words for the same: a search for one finds all, and titles have the first. */
const SAME = `
  fertilizer,fertiliser,urea,dap,npk; isfm,organic,manure,compost; forage,fodder,pasture,grass,livestock;
  yield,harvest,production; subscription,webhook,callback,notification,messages of changes;
  points,bulk,batch,many points,mass,upload;
  log in,login,authentication,authorization,authenticate,oauth,jwt,bearer,token; register,signup,sign up,account;
  key,api key,apikey,api token; district,region,woreda,zone,ward,admin,administrative area;
  field,polygon,plot,parcel,farm; position,coordinates,latitude,longitude,lat,gps;
  place,geocode,gazetteer,village,town; limit,quota,throttle,throttling,rate limit;
  retry,repeat,again,idempotency; page,paging,pagination,cursor;
  certainty,uncertainty,confidence,probability,odds,range; client,sdk,library; csv,excel,spreadsheet;
  geotiff,tiff,raster; sms,ussd,telegram,whatsapp,text message; pack,offline,download;
  price,cost,money,budget; agents,llm,mcp,assistant,chatgpt; gis,qgis,ogc,wms,wfs,tiles;
  signature,verify,signed,hmac`
  .split(';')
  .map((words) => words.trim().split(','))

/** Results that are shown at most, and letters of a phrase that are read. */
const [MOST, LONGEST] = [20, 100]

/** Letters of a text around what was found. */
const [BEFORE, BEHIND] = [40, 110]

/** What has a word in its title is about it. */
const WEIGHTS = { title: 8, where: 2, text: 1 }

/** Of another word for the same, beside the word that was typed. */
const OF_OTHERS = 0.4

/** Of a phrase whose words no title has beside each other. */
const APART = 0.2

/** Small letters and digits: numbers without the commas of thousands, and most plurals as one. */
const wordsIn = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/(\d),(?=\d{3})/g, '$1')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.replace(/(?<=[a-z]{3,}[^s\W])s$/, ''))

const GROUPS = SAME.map((phrases) => phrases.map(wordsIn))

/** The best entries for a phrase: those that have each word or another for the same, also misspelt. */
export function createSearch(entries: readonly Entry[]): (phrase: string) => Result[] {
  const index = new MiniSearch<Entry & { id: number }>({
    fields: Object.keys(WEIGHTS),
    tokenize: wordsIn,
    processTerm: (term) => term,
  })
  index.addAll(entries.map((entry, id) => ({ ...entry, id })))
  const heads = entries.map(({ title, where }) => ` ${wordsIn(`${title}, ${where}`).join(' ')} `)
  // Words of a phrase that stand apart may be about something else.
  const weigh: Weigh = (phrase, id) =>
    phrase.length === 1 || heads[id]?.includes(` ${phrase.join(' ')} `) ? 1 : APART
  return (phrase) => {
    const words = wordsIn(phrase.slice(0, LONGEST))
    if (words.length === 0) return []
    const found = index.search({ combineWith: 'AND', queries: listWanted(words, weigh), boost: WEIGHTS })
    return found.slice(0, MOST).map(({ id, terms }) => toResult(entries[id] as Entry, terms))
  }
}

/** How much a phrase says of an entry. */
type Weigh = (phrase: string[], id: number) => number

/** What an entry must have: each word, or phrases for it. */
function listWanted(words: string[], weigh: Weigh): QueryCombination[] {
  if (words.length === 0) return []
  const beginsWith = (phrase: string[]) => phrase.every((word, at) => word === words[at])
  const known = GROUPS.flatMap((group) => group.filter(beginsWith).map((phrase) => ({ phrase, group })))
  const longest = Math.max(1, ...known.map(({ phrase }) => phrase.length))
  const typed = words.slice(0, longest)
  const others = known
    .filter(({ phrase }) => phrase.length === longest)
    .flatMap(({ phrase, group }) => group.filter((one) => one !== phrase))
  const share = longest > 1 ? 1 : OF_OTHERS
  const queries = [
    {
      ...wantAll(typed, (id) => weigh(typed, id)),
      prefix: (term: string) => term.length > 2,
      fuzzy: (term: string) => (term.length > 4 && !/\d/.test(term) ? 0.2 : false),
    },
    ...others.map((phrase) => wantAll(phrase, (id) => share * weigh(phrase, id))),
  ]
  return [{ combineWith: 'OR', queries }, ...listWanted(words.slice(longest), weigh)]
}

const wantAll = (queries: string[], boostDocument: (id: number) => number): QueryCombination => ({
  combineWith: 'AND',
  queries,
  boostDocument,
})

function toResult({ href, title, where, text }: Entry, terms: readonly string[]): Result {
  const at = Math.min(...terms.map((term) => text.toLowerCase().indexOf(term)).filter((one) => one >= 0))
  const from = Number.isFinite(at) ? at - BEFORE : 0
  // From a word on.
  const excerpt =
    from > 0 ? text.slice(from, from + BEFORE + BEHIND).replace(/^\S*\s/, '… ') : text.slice(0, BEHIND)
  return { href, title, where, excerpt }
}
