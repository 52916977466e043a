import { OperatorError } from '#src/errors.ts'
import { type Encoding, encodingNamed, encodingOfPage, findDriverPage, UTF_8 } from '#src/lib/text.ts'

/**
 * The contents of all texts of a file. Cut: all bytes beyond ASCII may be characters of UTF-8 that their fields cut
 * off, or single bytes of another encoding.
 */
export type Texts = 'ASCII' | 'UTF-8' | 'cut' | 'other'

const EXAMPLES = 'utf-8, windows-1252 or 850'

export function givenEncoding(label: string): Encoding {
  const encoding = encodingNamed(label.trim())
  if (encoding) return encoding
  throw new OperatorError(`--encoding must be an encoding that is known, such as ${EXAMPLES}, not ${label}.`)
}

export function refuseEncoding(name: string, { encoding }: { encoding?: Encoding }): void {
  if (encoding === undefined) return
  throw new OperatorError(`${name} says what its texts are in: --encoding is for shapefiles.`)
}

/**
 * The given encoding, else the label's, else UTF-8 for surely valid texts, else Windows-1252. For ASCII no label
 * matters.
 *
 * @param cpg the text of the .cpg; it overrides the label of the .dbf
 * @returns a note about guesses and contradictions
 */
export function chooseEncoding(
  name: string,
  { texts, languageDriver }: { texts: Texts; languageDriver: number },
  cpg = '',
  given?: Encoding,
): { encoding: Encoding; note?: string } {
  if (texts === 'ASCII') return { encoding: UTF_8 }
  const label = readLabel(cpg.trim(), languageDriver)
  if (!label && !given) return unlabelled(name, texts)
  const encoding = given ?? label?.encoding
  if (!encoding) {
    throw new OperatorError(
      `${name} says in its ${label?.where} that its texts are in ${label?.says}, which is not known: give --encoding, such as ${EXAMPLES}.`,
    )
  }
  if (encoding === UTF_8 && texts === 'other') {
    const says = given ? 'not valid as UTF-8' : `not UTF-8, as its ${label?.where} says`
    throw new OperatorError(`The texts of ${name} are ${says}: give --encoding, such as windows-1252 or 850.`)
  }
  if (given || encoding === UTF_8 || texts !== 'UTF-8') return { encoding }
  return {
    encoding,
    note: `${name} says in its ${label?.where} that its texts are in ${encoding.name}, but they are valid as UTF-8: if names look damaged, give --encoding utf-8.`,
  }
}

/** No code page, and that of the machine that made the file. */
const SILENT_DRIVERS = [0, 0x57]

function readLabel(cpg: string, driver: number) {
  if (cpg !== '') return { where: '.cpg', says: cpg.slice(0, 50), encoding: encodingNamed(cpg) }
  if (SILENT_DRIVERS.includes(driver)) return undefined
  const page = findDriverPage(driver)
  const says = page === undefined ? `language driver ${driver}` : `code page ${page}`
  return { where: '.dbf', says, encoding: encodingOfPage(page) }
}

function unlabelled(name: string, texts: Texts): { encoding: Encoding; note?: string } {
  if (texts === 'UTF-8') return { encoding: UTF_8 }
  return {
    encoding: encodingNamed('windows-1252') as Encoding,
    note: `${name} does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.`,
  }
}
