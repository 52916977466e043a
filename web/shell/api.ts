import { TEXTS } from '../texts/en.ts'

/** What the service answers where it cannot do what was asked; `code` is for programs, the message for people. */
export class ApiFailure extends Error {
  /**
   * @param {number} status 0 where no answer has come
   * @param {{ error?: string, code?: string, details?: { field: string, message: string, code?: string }[] }} body
   * @param {number} [retryAfter] the seconds to wait, where the service has said so
   */
  constructor(status, body, retryAfter = 0) {
    super(body.error ?? TEXTS.unreachable)
    this.status = status
    this.code = body.code ?? 'UNREACHABLE'
    this.details = body.details ?? []
    this.retryAfter = retryAfter
  }
}

/**
 * The address of a path of the API, wherever the service lies.
 *
 * @param {string} path without a slash in front
 * @param {Record<string, string | number | null | undefined>} [query] what is null or undefined is left out
 */
export function addressOf(path, query = {}) {
  const address = new URL(path, document.baseURI)
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) address.searchParams.set(name, String(value))
  }
  return address
}

/** @typedef {RequestInit & { onText?: (piece: string) => void }} Init `onText` is told the pieces of a text as they come */

/**
 * Asks the service.
 *
 * @param {URL} address
 * @param {Init} [init]
 * @returns {Promise<any>} the body, where it is JSON
 * @throws {ApiFailure}
 */
export async function ask(address, { onText, ...init } = {}) {
  const headers = new Headers(init.headers)
  if (!headers.has('accept')) headers.set('accept', 'application/json, application/geo+json')
  const response = await fetch(address, { ...init, headers }).catch(unanswered)
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
  const body = isJson ? await response.json() : await textOf(response, onText)
  if (!response.ok) {
    const retryAfter = Number(response.headers.get('retry-after')) || 0
    throw new ApiFailure(response.status, isJson ? body : {}, retryAfter)
  }
  return body
}

/**
 * Nothing has come, or not all of it, unless it is not wanted any more.
 *
 * @param {unknown} error
 * @returns {never}
 */
function unanswered(error) {
  if (error instanceof DOMException && error.name === 'AbortError') throw error
  throw new ApiFailure(0, {})
}

/** @param {Response} response @param {Init['onText']} onText */
async function textOf(response, onText) {
  if (!onText || !response.body) return response.text()
  let text = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const next = () => reader.read().catch(unanswered)
  for (let piece = await next(); !piece.done; piece = await next()) {
    onText(piece.value)
    text += piece.value
  }
  return text
}

/**
 * @param {string} path
 * @param {Record<string, string | number | null | undefined>} [query]
 * @param {RequestInit} [init]
 */
export const get = (path, query, init) => ask(addressOf(path, query), init)

/**
 * Sends a body of JSON.
 *
 * @param {string} path
 * @param {unknown} body
 * @param {RequestInit} [init] with another `method` than POST, or a token in `headers`
 */
export function send(path, body, init = {}) {
  const headers = new Headers(init.headers)
  headers.set('content-type', 'application/json')
  return ask(addressOf(path), { method: 'POST', ...init, headers, body: JSON.stringify(body) })
}
