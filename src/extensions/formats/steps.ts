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
  calendar: string
  startMs: number
  unitMs: number
}

const DAY_MS = 86_400_000

const UNITS: [RegExp, number][] = [
  [/^d(?:ays?)?$/i, DAY_MS],
  [/^h(?:(?:ou)?rs?)?$/i, 3_600_000],
  [/^min(?:ute)?s?$/i, 60_000],
  [/^s(?:ec(?:ond)?s?)?$/i, 1000],
]

/** Days before each month of calendars without leap years, of which each year is alike. */
const ALIKE: Record<string, { days: number; before: number[] }> = {
  noleap: { days: 365, before: [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] },
  '360_day': { days: 360, before: Array.from({ length: 12 }, (_, month) => 30 * month) },
}
const CALENDARS: Record<string, string> = {
  '365_day': 'noleap',
  standard: 'gregorian',
  proleptic_gregorian: 'gregorian',
}

/** The first whole year of the calendar that programs count in. */
const GREGORIAN = 1583
const SINCE =
  /^(\w+)\s+since\s+(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2})(?:\.\d*)?)?)?\s*(?:Z|UTC|\+?00:?00)?$/i

/** Undefined for a calendar that is not read. The start is in milliseconds of its calendar. */
function readClock(coordinate: Variable): Clock | undefined {
  const said = (textOf(coordinate.attribute('calendar')) ?? 'standard').toLowerCase()
  const calendar = CALENDARS[said] ?? said
  const found = SINCE.exec(textOf(coordinate.attribute('units')) ?? '')
  const unitMs = UNITS.find(([unit]) => unit.test(found?.[1] ?? ''))?.[1]
  if (!found || unitMs === undefined) return undefined
  const numbers = found.slice(2).map((part) => Number(part ?? 0))
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers
  const alike = ALIKE[calendar]
  if (alike) {
    const days = year * alike.days + (alike.before[month - 1] ?? Number.NaN) + day - 1
    return { calendar, startMs: days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000, unitMs }
  }
  if (calendar !== 'gregorian' || year < GREGORIAN) return undefined
  return { calendar, startMs: Date.UTC(year, month - 1, day, hour, minute, second), unitMs }
}

/** With the time, unless it is midnight. */
function dayOf(value: number, { calendar, startMs, unitMs }: Clock): string | undefined {
  const ms = Math.round((startMs + value * unitMs) / 1000) * 1000
  const alike = ALIKE[calendar]
  const date = new Date(alike ? ms - Math.floor(ms / DAY_MS) * DAY_MS : ms)
  if (Number.isNaN(date.getTime())) return undefined
  const text = date.toISOString()
  return (alike ? dayAlike(Math.floor(ms / DAY_MS), alike) + text.slice(10) : text)
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/:00\.000Z$|\.000Z$/, 'Z')
}

/** The 30th of February is a day of some. */
function dayAlike(day: number, { days, before }: { days: number; before: number[] }): string {
  const year = Math.floor(day / days)
  const ofYear = day - year * days
  const month = before.findLastIndex((first) => first <= ofYear)
  const padded = [month + 1, ofYear - (before[month] as number) + 1].map((part) =>
    String(part).padStart(2, '0'),
  )
  return [String(year).padStart(4, '0'), ...padded].join('-')
}
