import { type Container, lastName, MOST_COORDINATES, textOf, type Variable } from './container.ts'

/** A place along the dimensions before rows and columns, such as a time. */
export interface Step {
  at: number[]
  /** Empty for the only one. */
  label: string
}

/** All steps of a variable, the last dimension first. @param most they are counted further, and not listed */
export async function listSteps(container: Container, variable: Variable, most: number): Promise<Step[]> {
  const sizes = variable.shape.slice(0, -2)
  const count = sizes.reduce((product, size) => product * size, 1)
  if (count > most) throw new Error(`it has ${count} bands; at most ${most} are read`)
  let steps: Step[] = [{ at: [], label: '' }]
  for (const [index, size] of sizes.entries()) {
    const labels = await readLabels(container, variable.dimensions[index] as string, size)
    steps = steps.flatMap(({ at, label }) =>
      labels.map((more, next) => ({
        at: [...at, next],
        label: size === 1 ? label : `${label} ${more}`.trim(),
      })),
    )
  }
  return steps
}

/** Days of times, texts, or `name=value`. */
async function readLabels({ variables }: Container, dimension: string, size: number): Promise<string[]> {
  const name = lastName(dimension).replaceAll(' ', '-')
  const numbered = Array.from({ length: size }, (_, at) => `${name}=${at + 1}`)
  const coordinate = variables.find((one) => one.name === dimension)
  if (!coordinate || size > MOST_COORDINATES || coordinate.shape[0] !== size) return numbered
  if (coordinate.pixelType === undefined) {
    const texts = (await coordinate.readTexts?.()) ?? []
    return new Set(texts).size === size && !texts.includes('') ? texts : numbered
  }
  if (coordinate.shape.length !== 1) return numbered
  const values = Array.from(await coordinate.read([0], [size]))
  const clock = readClock(coordinate)
  const labels = values.map((value) => (clock && dayOf(value, clock)) ?? `${name}=${value}`)
  return new Set(labels).size === size ? labels : numbered
}

interface Clock {
  startMs: number
  unitMs: number
}

const UNITS: [RegExp, number][] = [
  [/^d(?:ays?)?$/i, 86_400_000],
  [/^h(?:(?:ou)?rs?)?$/i, 3_600_000],
  [/^min(?:ute)?s?$/i, 60_000],
  [/^s(?:ec(?:ond)?s?)?$/i, 1000],
]

/** The first whole year of the calendar that programs count in. */
const GREGORIAN = 1583
const SINCE =
  /^(\w+)\s+since\s+(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2})(?:\.\d*)?)?)?\s*(?:Z|UTC|\+?00:?00)?$/i

/** Undefined for another calendar than that of days as they are. */
function readClock(coordinate: Variable): Clock | undefined {
  const calendar = textOf(coordinate.attribute('calendar')) ?? 'standard'
  const found = SINCE.exec(textOf(coordinate.attribute('units')) ?? '')
  if (!found || !/^(?:standard|(?:proleptic_)?gregorian)$/i.test(calendar)) return undefined
  const unitMs = UNITS.find(([unit]) => unit.test(found[1] as string))?.[1]
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(2)
    .map((part) => Number(part ?? 0))
  if (unitMs === undefined || year < GREGORIAN) return undefined
  return { startMs: Date.UTC(year, month - 1, day, hour, minute, second), unitMs }
}

/** With the time, unless it is midnight. */
function dayOf(value: number, { startMs, unitMs }: Clock): string | undefined {
  const date = new Date(Math.round((startMs + value * unitMs) / 1000) * 1000)
  if (Number.isNaN(date.getTime())) return undefined
  return date
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/:00\.000Z$|\.000Z$/, 'Z')
}
