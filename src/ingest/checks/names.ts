import { SCENARIOS } from '#schemas/glossary.ts'
import { editDistance } from '#src/lib/edit-distance.ts'
import { nameKey } from '#src/lib/name-key.ts'
import { type Check, type Found, layersOf, type ReleaseFacts } from './facts.ts'

const STANDARD_SCENARIOS: readonly string[] = SCENARIOS.map(({ scenario }) => scenario)

/** Inputs and scenarios that are spelled almost as others: whoever asks for one of them misses the other. */
export const names: Check<ReleaseFacts> = (release, surroundings) => {
  const layers = layersOf(release)
  return [
    ...misspelled(
      'input',
      layers.map(({ input }) => input),
      surroundings.names.inputs,
    ),
    ...misspelled(
      'scenario',
      layers.map(({ scenario }) => scenario),
      [...STANDARD_SCENARIOS, ...surroundings.names.scenarios],
    ),
  ]
}

function misspelled(kind: 'input' | 'scenario', given: (string | null)[], known: string[]): Found[] {
  const unknown = new Set(given.filter((name) => name !== null).filter((name) => !known.includes(name)))
  return [...unknown].flatMap((name) => {
    const meant = known.find((other) => sameLetters(name, other)) ?? known.find((other) => close(name, other))
    if (meant === undefined) return []
    const why = sameLetters(name, meant)
      ? 'differs only by case, spaces or hyphens'
      : 'differs by a letter or two'
    return {
      check: 'names',
      level: 'error',
      sentence: `The ${kind} ${JSON.stringify(name)} ${why} from ${JSON.stringify(meant)}${STANDARD_SCENARIOS.includes(meant) ? '' : ', which is published'}: is it the same?`,
      figures: { [kind]: name, known: meant },
    }
  })
}

/** What is left of a name without case, accents, spaces, hyphens and the like. */
function lettersOf(name: string): string {
  return nameKey(name).replace(/[^\p{Letter}\p{Number}]/gu, '')
}

function sameLetters(a: string, b: string): boolean {
  return lettersOf(a) === lettersOf(b)
}

/** Short names are their own words: NPS is not NPK. Of long ones, two letters may be wrong. */
const ONE_WRONG = 5
const TWO_WRONG = 9

/** Whether a name is probably another one with a letter or two wrong. Numbers are never taken for each other. */
function close(a: string, b: string): boolean {
  const [left, right] = [lettersOf(a), lettersOf(b)]
  const length = Math.min(left.length, right.length)
  if (length < ONE_WRONG || digitsOf(left) !== digitsOf(right)) return false
  return editDistance(left, right) <= (length < TWO_WRONG ? 1 : 2)
}

function digitsOf(text: string): string {
  return text.replace(/\P{Number}/gu, '')
}
