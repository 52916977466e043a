import { workButton } from '../parts/blocks.ts'
import type { FeaturesMap } from '../parts/features-map.ts'
import { TEXTS } from '../texts/en.ts'
import { wholeText } from '../texts/names.ts'

/** A device that has just been switched on takes half a minute outside. */
const LONGEST_MS = 30_000

/** A button that shows on the map where the visitor is. */
export function positionButton(map: FeaturesMap) {
  const { field } = TEXTS
  return workButton(field.position, async () => {
    const { latitude: lat, longitude: lng, accuracy } = await position()
    await map.mark({ lat, lng })
    return field.positionFound(wholeText(Math.max(1, Math.round(accuracy))))
  })
}

function position(): Promise<GeolocationCoordinates> {
  const { field } = TEXTS
  return new Promise((resolve, reject) => {
    const options = { enableHighAccuracy: true, timeout: LONGEST_MS }
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => resolve(coords),
      // Browsers say the same of pages that did not come by HTTPS.
      ({ code }) => reject(new Error(code === 1 ? field.positionDenied : field.positionUnknown)),
      options,
    )
  })
}
