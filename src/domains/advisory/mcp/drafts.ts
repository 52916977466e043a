/**
 * An answer that may have to be shorter.
 *
 * @param most so many entries of each list it may have
 */
export type Draft = (most: number) => object

/** An answer as it is sent: as an object, and the same as text. */
export interface Answer {
  content: object
  text: string
}

/** An agent reads all of an answer, and what it has read it keeps in mind: each answer is shorter than this. */
export const MOST_BYTES = 2000

/** How many entries lists may have: as many as there are, or else so many. */
const STEPS = [Number.POSITIVE_INFINITY, 40, 30, 20, 14, 10, 7, 5, 3, 2, 1]

/** How long texts may be that others have written, in characters: those of answers with few entries were too long. */
const LONG_TEXT = 160
const SHORT_TEXT = 60

/** The same for sentences of the service, in which there may be names that others have sent. */
const LONG_SENTENCE = 500

/**
 * The longest answer of a draft that is short enough.
 *
 * @throws {RangeError} where even the shortest is not
 */
export function answerOf(draft: Draft): Answer {
  for (const most of STEPS) {
    const content = draft(most)
    const text = JSON.stringify(content)
    if (Buffer.byteLength(text) < MOST_BYTES) return { content, text }
  }
  throw new RangeError('an answer is too long whatever is left out')
}

/** A text that others have written, so that it cannot fill an answer. */
export function shortened(text: string, most: number): string {
  return cut(text, most < 10 ? SHORT_TEXT : LONG_TEXT)
}

/** A sentence of the service, whose hint stands at its end: lists are shortened before it is. */
export function shortenedSentence(text: string, most: number): string {
  return cut(text, most > 2 ? LONG_SENTENCE : most > 1 ? LONG_TEXT : SHORT_TEXT)
}

function cut(text: string, length: number): string {
  // By characters: half a surrogate pair is no text.
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

/** What was left out of some lists, as a member of an answer; none where that is nothing. */
export function leftOut(most: number, ...lengths: number[]): { left_out?: number } {
  const count = lengths.reduce((sum, length) => sum + Math.max(0, length - most), 0)
  return count > 0 ? { left_out: count } : {}
}
