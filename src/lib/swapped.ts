/** Whether numbers that are no latitude and longitude would be the other way round. */
export function areSwapped(sent: unknown): boolean {
  const { lat, lng } = (sent ?? {}) as { lat?: unknown; lng?: unknown }
  return (
    typeof lat === 'number' &&
    typeof lng === 'number' &&
    Math.abs(lat) > 90 &&
    Math.abs(lat) <= 180 &&
    Math.abs(lng) <= 90
  )
}

/** A position with longitude and latitude the other way round; undefined where that is none. */
export function swapped({ longitude, latitude }: { longitude: number; latitude: number }) {
  return Math.abs(longitude) <= 90 ? { longitude: latitude, latitude: longitude } : undefined
}
