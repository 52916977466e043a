/** @typedef {{ operationId: string, description?: string, parameters?: any[], responses?: Record<string, any>, requestBody?: any }} Operation */
/** @typedef {{ info: { description?: string }, paths: Record<string, Record<string, Operation>>, components: any }} Document */

/** The end of a sentence. */
const SENTENCE = /(?<=[.!?])\s+(?=[A-Z`"])/

/** So much of a description is shown at once. */
const SENTENCES_SHOWN = 2

/**
 * Makes a document short to read: the page shows the beginning of descriptions, and of errors what they say. Nothing else
 * is left out.
 *
 * @param {Document} document
 */
export function shortened(document) {
  document.info.description = folded(document.info.description ?? '')
  for (const operation of operationsOf(document)) {
    operation.description = folded(operation.description ?? '')
    // Ids are filled in before an operation is opened, when references are not yet resolved.
    operation.parameters &&= operation.parameters.map((parameter) => at(document, parameter))
    for (const [status, answer] of Object.entries(operation.responses ?? {})) {
      if (status < '400' || !operation.responses) continue
      operation.responses[status] = { description: at(document, answer).description }
    }
  }
  return document
}

/** @param {Document} document */
export function operationsOf({ paths = {} }) {
  return Object.values(paths).flatMap((methods) => Object.values(methods))
}

/**
 * What a reference of a document names.
 *
 * @param {Document} document
 * @param {any} value which may be one
 */
function at(document, value) {
  if (typeof value?.$ref !== 'string') return value
  const names = value.$ref.slice(2).split('/')
  return names.reduce((/** @type {any} */ found, /** @type {string} */ name) => found?.[name], document)
}

/** @param {string} description */
function folded(description) {
  const [first = '', ...others] = description.split('\n\n')
  const sentences = first.split(SENTENCE)
  const rest = [sentences.slice(SENTENCES_SHOWN).join(' '), ...others].filter(Boolean).join('\n\n')
  const shown = sentences.slice(0, SENTENCES_SHOWN).join(' ')
  return rest === '' ? shown : `${shown}\n\n<details><summary>More</summary>\n\n${rest}\n\n</details>`
}
