import { randomNumbers } from '#bench/load/random.ts'

/** What messages are made of: words of the catalogue and names of areas, as the service publishes them. */
export interface Words {
  subjects: string[]
  places: string[]
}

/** A message as somebody may write it. */
export interface Drawn {
  kind: Kind
  text: string
}

export type Kind = (typeof KINDS)[number]

/** From well written messages to unreadable ones. */
const KINDS = [
  'as in the help',
  'a typing error',
  'accents',
  'separators',
  'coordinates',
  'a grid code',
  'a size of the field',
  'signs beyond GSM',
  'a command',
  'nonsense',
] as const

/** Squares of the demo in Ethiopia, Rwanda and Kenya: west, south, and their size in degrees. */
const SQUARES = [
  [37, 7, 3],
  [29.4, -2.4, 0.9],
  [34.5, -1, 1.2],
] as const

const UNITS = ['ha', 'HA', 'timad', 'acres', 'hectares']
const COMMANDS = ['HELP', 'help', 'Help!', 'MORE', 'more', 'START', 'K7 4', 'A2 3200', '1', '2']
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const NONSENSE = [...'abcdefghijklmnopqrstuvwxyz0123456789 ?!.,;:+&%@#*()=<>"\'\\/éèñçöß€አማርኛ', '🌾']

/** Draws messages; those of a seed are the same each time. */
export function drawMessages({ subjects, places }: Words, count: number, seed: number): Drawn[] {
  const random = randomNumbers(seed)
  const below = (most: number) => Math.floor(random() * most)
  const one = <Item>(items: readonly Item[]) => items[below(items.length)] as Item
  const inSomeCase = (text: string) => one([text, text.toLowerCase(), text.toUpperCase()])
  const question = () => ({ subject: inSomeCase(one(subjects)), place: inSomeCase(one(places)) })
  const position = () => {
    const [west, south, size] = one(SQUARES)
    return [south + size * random(), west + size * random()].map((degrees) => Number(degrees.toFixed(3)))
  }

  const texts: Record<Kind, () => string> = {
    'as in the help': () => join(question()),
    'a typing error': () => {
      const { subject, place } = question()
      return random() < 0.5 ? `${misspell(subject)} ${place}` : `${subject} ${misspell(place)}`
    },
    accents: () => withAccents(join(question())),
    separators: () => {
      const { subject, place } = question()
      return one([
        `${subject}, ${place}`,
        `${subject}  ${place} `,
        `${place} ${subject}`,
        `${subject}: ${place}.`,
      ])
    },
    coordinates: () => {
      const [lat, lng] = position() as [number, number]
      const comma = (number: number) => String(number).replace('.', ',')
      const written = one([
        `${lat} ${lng}`,
        `${lat},${lng}`,
        `${lat}, ${lng}`,
        `${comma(lat)} ${comma(lng)}`,
        `${Math.abs(lat)}${lat < 0 ? 'S' : 'N'} ${lng}E`,
      ])
      return `${inSomeCase(one(subjects))} ${written}`
    },
    'a grid code': () =>
      `${inSomeCase(one(subjects))} ${inSomeCase(gridCodeOf(...(position() as [number, number])))}`,
    'a size of the field': () => `${join(question())} ${1 + below(20)} ${one(UNITS)}`,
    'signs beyond GSM': () => {
      const { subject, place } = question()
      return one([
        `${subject} ${place} 🙏`,
        `${subject} “${place}”`,
        `🌾 ${place} ${subject}…`,
        `${subject} ${place}’`,
      ])
    },
    'a command': () => one(COMMANDS),
    nonsense: () => Array.from({ length: 1 + below(30) }, () => one(NONSENSE)).join(''),
  }

  /** A letter added, dropped or exchanged, or two in the wrong order, behind the first one. */
  function misspell(word: string): string {
    const at = 1 + below(word.length - 1)
    const [before, letter, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)]
    const other = one([...LETTERS])
    return one([
      before + other + letter + after,
      before + after,
      before + other + after,
      before.slice(0, -1) + letter + before.slice(-1) + after,
    ])
  }

  function withAccents(text: string): string {
    const accented = text.replace(/[aeiou]/gi, (letter) => letter + one(['', '\u0301', '\u0300', '\u0308']))
    return random() < 0.5 ? accented.normalize('NFC') : accented
  }

  return Array.from({ length: count }, () => {
    const kind = one(KINDS)
    return { kind, text: texts[kind]() }
  })
}

function join({ subject, place }: { subject: string; place: string }): string {
  return `${subject} ${place}`
}

const GRID_LETTERS = '23456789CFGHJMPQRVWX'

/** The code of 8 digits of the cell that has a position, by the specification of the Open Location Code. */
function gridCodeOf(lat: number, lng: number): string {
  // Cells of 1 / 400 degree, and digits to the base of 20, the last first.
  let [south, west] = [Math.floor((lat + 90) * 400), Math.floor((lng + 180) * 400)]
  let code = ''
  for (let digits = 0; digits < 4; digits++) {
    code = `${GRID_LETTERS[south % 20]}${GRID_LETTERS[west % 20]}${code}`
    south = Math.floor(south / 20)
    west = Math.floor(west / 20)
  }
  return code
}
