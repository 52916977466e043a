import { Type } from 'typebox'
import * as t from '#schemas/common.ts'

export const GeoTiff = t.file('GeoTiff', 'A cloud-optimised GeoTIFF of one band.')

/** Other texts than codes and numbers of layers are 404: nothing else is wrong with them. */
export const GeotiffParams = Type.Object({
  release: t.string(
    'The code of a published release, as `GET /catalog` has it.',
    'synthetic-yield-eth-wheat-2026-07-v1',
  ),
  layer: Type.Integer({ minimum: 0, description: 'Which of its layers, from 1.', examples: [1] }),
})
