import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { BASE, type ErrorCode } from '#src/errors.ts'
import { toApiError } from '#src/http/plugins/error-handler.ts'

/** The HTTP request of a tool's call: its queue, limits and deadline count. */
export interface ToolCall {
  request: FastifyRequest
  reply: FastifyReply
}

export type AdviceBody = Record<string, unknown>

export interface Source {
  /** The release or the boundaries. */
  of: string
  source: string
  licence: string
}

/** An agent keeps each answer in its context, so each is shorter than this. */
export const MOST_BYTES = 2000

/** Lengths of lists to try, from the longest. */
const STEPS = [Number.POSITIVE_INFINITY, 40, 30, 20, 14, 10, 7, 5, 3, 2, 1]

/** Characters of texts by others, in answers with many and with few entries. */
const LONG_TEXT = 160
const SHORT_TEXT = 60

/** The same for sentences of the service, which may quote names by others. */
const LONG_SENTENCE = 500

/** What an answer may hold at one length of its lists. */
export class Room {
  readonly most: number
  leftOut = 0

  constructor(most: number) {
    this.most = most
  }

  get isWhole(): boolean {
    return this.most === STEPS[0]
  }

  /** The first of a list; the answer says how many others there are. */
  list<Item>(items: readonly Item[]): Item[] {
    this.leftOut += Math.max(0, items.length - this.most)
    return items.slice(0, this.most)
  }

  /** A text by others, so that it cannot fill an answer. */
  text(text: string): string {
    return cut(text, this.most < 10 ? SHORT_TEXT : LONG_TEXT)
  }

  /** A sentence of the service, whose hint stands at its end: lists are shortened before it is. */
  sentence(text: string): string {
    return cut(text, this.most > 2 ? LONG_SENTENCE : this.most > 1 ? LONG_TEXT : SHORT_TEXT)
  }
}

function cut(text: string, length: number): string {
  // By characters: half a surrogate pair is no text.
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

/** An answer that keeps to its room, with the sources of its data. */
export type Draft = (room: Room) => object & { sources?: readonly Source[] }

/** The longest answer that is short enough. @throws {RangeError} where even the shortest is not */
export function fitAnswer(draft: Draft): { content: object; text: string } {
  for (const most of STEPS) {
    const room = new Room(most)
    const { sources, ...members } = draft(room)
    const content = {
      ...members,
      ...(room.leftOut > 0 && { left_out: room.leftOut }),
      ...(sources && { sources: mergeSources(sources, room) }),
    }
    const text = JSON.stringify(content)
    if (Buffer.byteLength(text) < MOST_BYTES) return { content, text }
  }
  throw new RangeError('an answer is too long whatever is left out')
}

export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** Merges those with the same source and licence. */
function mergeSources(sources: readonly Source[], room: Room): object[] {
  const groups = [...groupBy(sources, ({ source, licence }) => JSON.stringify([source, licence])).values()]
  return groups.slice(0, room.most).flatMap((group) =>
    group.slice(0, 1).map(({ source, licence }) => ({
      source: room.text(source),
      licence: room.text(licence),
      of: [...new Set(group.map(({ of }) => of))].slice(0, room.most),
    })),
  )
}

/** What to do about an error, by an argument that the agent has sent; `*` stands for all others. */
const REMEDIES: Partial<Record<ErrorCode, Record<string, string>>> = {
  INVALID_PARAMETERS: { '*': 'Mend what details name, and call again.' },
  INVALID_GEOMETRY: { '*': 'Send [longitude, latitude], rings closed and without crossings.' },
  CROP_NOT_AVAILABLE: {
    crop: 'Leave crop out, or take one that catalogue has for the country.',
    '*': 'Call catalogue to see the crops of each country.',
  },
  UNKNOWN_AREA: { '*': 'Ask the user which one is meant, or find the code with where_is and name.' },
  NO_AREAS: { level: 'Take another level, or send a polygon.', '*': 'Send a polygon.' },
  NO_RELEASE: {
    forecast_period: 'Leave forecast_period out, or call releases to see what is published.',
    '*': 'Call releases to see what is published.',
  },
  OUTSIDE_COUNTRY: {
    polygon: 'Take the country that the polygon lies in; positions are [longitude, latitude].',
    country_code: 'Leave country_code out, and see that lat and lng are not swapped.',
    '*': 'See that lat and lng are not swapped.',
  },
  NO_DATA: {
    '*': 'Say that nothing is known for this place. Another point of the same field may have a value.',
  },
  QUERY_TIMEOUT: { '*': 'Ask for a smaller area, or call again later.' },
  OVERLOADED: { '*': 'Call again after retry_after_s.' },
  DATABASE_UNAVAILABLE: { '*': 'Call again after retry_after_s.' },
  INTERNAL: { '*': 'Call again once; then tell the user.' },
}

/** @param args of the call, where null counts as left out */
export function findRemedy(code: ErrorCode, args: object): string | undefined {
  const isSent = (name: string) => ((args as Record<string, unknown>)[name] ?? null) !== null
  return Object.entries(REMEDIES[code] ?? {}).find(([name]) => name === '*' || isSent(name))?.[1]
}

/** A refused client may call again after so long. */
const RETRY_AFTER_SECONDS = 1

/** Logs an error as its endpoint does, and makes the text for an agent: the endpoint's answer, and the remedy. */
export function formatFailure(error: unknown, args: object, { request, reply }: ToolCall): string {
  const failure = toApiError(error as FastifyError, request)
  if (failure.status >= 500 && !reply.raw.destroyed)
    request.server.logErrorAnswer(request, error as Error, failure)
  request.errorCode = failure.code
  const { code, message } = failure
  // Each product has its own reason, which often repeats the message.
  const details = (failure.details ?? []).filter((detail) => detail.message !== message)
  const mend = findRemedy(code, args)
  const { did_you_mean } = failure.body
  const here = (text: string) => text.replaceAll(BASE, request.basePath ?? '')
  const draft: Draft = (room) => ({
    error: room.sentence(here(message)),
    code,
    ...(details.length > 0 && {
      details: details.slice(0, room.most).map(({ field, message, allowed, code }) => ({
        field: room.text(field),
        message: room.sentence(here(message)),
        ...(allowed && { allowed: allowed.slice(0, room.most).map((value) => room.text(value)) }),
        ...(code && { code }),
      })),
    }),
    ...(did_you_mean?.length && { did_you_mean: did_you_mean.slice(0, room.most) }),
    ...(failure.status === 503 && { retry_after_s: RETRY_AFTER_SECONDS }),
    ...(mend && { mend }),
  })
  return fitAnswer(draft).text
}
