import { Type } from 'typebox'
import { AdvisedArea } from './areas.ts'
import { oneOf, ref } from './common.ts'

/** The location of the examples. */
export const LOCATION = { name: 'My farm', lat: 9.55, lng: 38.55, type: 'polygon', area_ha: 12012.5 }

export const PolygonLocation = Type.Object(
  {
    name: Type.String({ description: 'The label of the request, or the name of the area.' }),
    lat: Type.Number({ description: 'With `lng`, a point inside.' }),
    lng: Type.Number(),
    type: oneOf(['polygon'], 'The kind of place.'),
    area_ha: Type.Number({
      description: 'Hectares, on the WGS 84 ellipsoid, to the square metre; small areas have three digits.',
    }),
    admin: Type.Optional(ref(AdvisedArea)),
  },
  {
    $id: 'PolygonLocation',
    examples: [LOCATION],
  },
)
