import { TEXTS } from '../texts/en.ts'
import { NoShape, readField } from './shape.ts'

/**
 * A field as it is typed.
 *
 * @param name of the control that it is typed into
 * @throws {Error} with a sentence, and the control that it is about, as the service says it
 */
export function readOrSay(text: string, name: string) {
  try {
    return readField(text)
  } catch (error) {
    if (!(error instanceof NoShape)) throw error
    const message = TEXTS.field.wrong[error.reason](error.line ?? 0)
    throw Object.assign(new Error(message), { details: [{ field: name, message }] })
  }
}
