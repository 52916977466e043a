import { OperatorError } from '#src/errors.ts'
import { codePageOfDriver, type Encoding, encodingNamed, encodingOfPage, UTF_8 } from './code-pages.ts'
import type { Texts } from './dbf.ts'
import type { Reading } from './feature.ts'

/** Examples for sentences. */
const EXAMPLES = 'utf-8, windows-1252 or 850'

/**
 * The encoding that an operator names.
 *
 * @throws {OperatorError} where it is not known
 */
export function givenEncoding(label: string): Encoding {
  const encoding = encodingNamed(label.trim())
  if (encoding) return encoding
  throw new OperatorError(`--encoding must be an encoding that is known, such as ${EXAMPLES}, not ${label}.`)
}

/** @throws {OperatorError} where an encoding is given for a file whose kind has but one */
export function refuseEncoding(name: string, { encoding }: Reading): void {
  if (encoding === undefined) return
  throw new OperatorError(`${name} says what its texts are in: --encoding is for shapefiles.`)
}

/**
 * The encoding of the texts of a shapefile: the one that is given, else that of its label, else UTF-8 where
 * they are valid as such beyond doubt, and Windows-1252 where they are not. Where all of them are ASCII, no label matters.
 *
 * @param cpg what the .cpg beside the .dbf says; its label comes before that in the .dbf
 * @returns a note where it had to be guessed, or what is there seems to be something else
 * @throws {OperatorError} where the label names none that is known, or texts are not valid as what it names
 */
export function chooseEncoding(
  name: string,
  { texts, languageDriver }: { texts: Texts; languageDriver: number },
  cpg = '',
  given?: Encoding,
): { encoding: Encoding; note?: string } {
  if (texts === 'ASCII') return { encoding: UTF_8 }
  const label = labelOf(cpg.trim(), languageDriver)
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

interface Label {
  where: '.cpg' | '.dbf'
  says: string
  encoding: Encoding | undefined
}

/** Drivers that name no code page: none, and that of the machine on which the file was made. */
const SILENT_DRIVERS = [0, 0x57]

function labelOf(cpg: string, driver: number): Label | undefined {
  if (cpg !== '') return { where: '.cpg', says: cpg.slice(0, 50), encoding: encodingNamed(cpg) }
  if (SILENT_DRIVERS.includes(driver)) return undefined
  const page = codePageOfDriver(driver)
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
