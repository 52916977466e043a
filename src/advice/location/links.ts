/** RFC 5870: latitude, longitude, maybe a height and parameters; Android adds a query. */
const GEO_URI = /^geo:([^,;?]+,[^,;?]+)(?:,[^,;?]+)?((?:;[^?]*)?)(?:\?(.*))?$/is

const LINK =
  /^(?:(?:https?|comgooglemaps|maps|waze|om|osmand\.api|google\.navigation|intent):|geo:|(?:www\.)?(?:maps|google|openstreetmap|osm|waze)\.[\w.]+\/)/i

/** Services whose links have the latitude first. */
const HOSTS =
  /^(?:[\w-]+\.)*(?:google\.[a-z.]+|goo\.gl|openstreetmap\.org|osm\.org|apple\.com|waze\.com|bing\.com|here\.com|osmand\.net|organicmaps\.app|whatsapp\.com)$/i

const NUMBER = String.raw`[+-]?\d+(?:\.\d+)?`

const PAIR = new RegExp(`^(?:loc:)?\\s*(${NUMBER})\\s*[,~]\\s*(${NUMBER})`, 'i')

/** Parameters that have both coordinates, those of a pin before those of a view. */
const PAIRS = ['q', 'query', 'coordinate', 'pin', 'destination', 'daddr', 'll', 'sll', 'cp', 'center', 'map']

/** Where paths and fragments have both coordinates, those of a pin before those of a view. */
const PLACES: readonly RegExp[] = [
  new RegExp(`!3d(${NUMBER})!4d(${NUMBER})`),
  new RegExp(`/(?:search|place|dir|l)/+(${NUMBER})\\s*,\\s*(${NUMBER})`),
  new RegExp(`/@(${NUMBER}),(${NUMBER})`),
  new RegExp(`#(?:map=)?${NUMBER}/(${NUMBER})/(${NUMBER})`),
]

/** Degrees, minutes and seconds in the path of Google's pins. */
const PATH_OF_PIN = /\/(?:search|place)\/([^/@?#]*°[^/@?#]*)/

/** Whether a text is the address of a place on a map. */
export function isLink(text: string): boolean {
  return LINK.test(text)
}

/** The coordinates in a link to a map, the latitude first; undefined where it has none, or their order is not certain. */
export function coordinatesInLink(link: string): string | undefined {
  const [, base, options = '', query] = GEO_URI.exec(link) ?? []
  if (base !== undefined) {
    if (/;crs=(?!wgs84)/i.test(options)) return undefined
    const [, lat, lng] = PAIR.exec(new URLSearchParams(query).get('q') ?? '') ?? []
    // "geo:0,0?q=" searches: the query has the place.
    return /^\s*0(?:\.0+)?\s*,\s*0(?:\.0+)?\s*$/.test(base) && query
      ? lat && `${lat} ${lng}`
      : base.replace(',', ' ')
  }
  const address = /^[a-z.]+:/i.test(link) ? link : `https://${link}`
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  if (/^https?:$/.test(url.protocol) && !HOSTS.test(url.hostname)) return undefined
  return coordinatesInParameters(url.searchParams) ?? coordinatesInPath(link)
}

function coordinatesInParameters(parameters: URLSearchParams): string | undefined {
  const first = (...names: string[]) => names.map((name) => parameters.get(name)).find(Boolean)
  const [lat, lng] = [first('mlat', 'lat'), first('mlon', 'lon', 'lng')]
  if (lat && lng) return `${lat} ${lng}`
  for (const name of PAIRS) {
    const [, lat, lng] = PAIR.exec(parameters.get(name) ?? '') ?? []
    if (lat) return `${lat} ${lng}`
  }
  return undefined
}

function coordinatesInPath(link: string): string | undefined {
  // A % without two digits behind it is no reason for an error.
  const path = link.replace(/%[\da-f]{2}/gi, (code) => (code < '%80' ? decodeURIComponent(code) : code))
  const plain = path.replaceAll('%C2%B0', '°').replaceAll('+', ' ')
  for (const place of PLACES) {
    const [, lat, lng] = place.exec(plain) ?? []
    if (lat) return `${lat} ${lng}`
  }
  return PATH_OF_PIN.exec(plain)?.[1]
}
