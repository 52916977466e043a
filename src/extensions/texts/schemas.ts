import { Type } from 'typebox'
import * as t from '#schemas/common.ts'
import type { TextFormat } from '#schemas/point-request.ts'

/** More segments than a farmer is sent; networks take up to 255. */
const MOST_SEGMENTS = 10

const ShortText = t.textBody(
  'ShortText',
  'A text message of at most `max_segments` segments: 160 characters of the GSM 7-bit alphabet, or 153 in each of several; where another character is in it 70, or 67.',
  'My field. Yield (wheat) Jul 2026: Normal 4229 kg/ha; Above Normal 4783 kg/ha.',
)

declare module '#schemas/point-request.ts' {
  interface PointRequest {
    max_segments?: number
  }
}

/** Text messages of a point or a place. @param languages by default English */
export const textFormat = (languages: readonly string[]): TextFormat => ({
  name: 'text',
  mediaType: 'text/plain',
  schema: ShortText,
  headers: {
    'Content-Language': { type: 'string', description: 'The language of a text message.' },
    Vary: { type: 'string', description: 'The request headers that change the answer.' },
  },
  fields: {
    max_segments: t.optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_SEGMENTS,
        description:
          'Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out.',
      }),
    ),
  },
  parameters: {
    lang: t.optional(
      t.oneOf(languages, 'The language of a text; by default what `Accept-Language` prefers, or `en`.'),
    ),
  },
})
