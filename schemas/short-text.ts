import { Type } from 'typebox'
import { optional } from './common.ts'

/** More segments than a farmer is sent; networks take up to 255. */
export const MOST_SEGMENTS = 10

/** What a request for a point may say of its answer as a text message. */
export const ShortTextFields = {
  max_segments: optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_SEGMENTS,
      description:
        'Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out.',
    }),
  ),
}

/** An answer, or the reason for none, as a text message. */
export const ShortText = Type.String({
  $id: 'ShortText',
  description:
    'A text message of at most `max_segments` segments: 160 characters of the GSM 7-bit alphabet, or 153 in each of several; where another character is in it 70, or 67.',
  examples: ['My field. Yield (wheat) Jul 2026: Normal 2464 kg/ha; Above Normal 2834 kg/ha.'],
})
