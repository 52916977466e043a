import type { Place } from '../api-types.ts'

/** Of coordinates: about a metre. */
const DECIMALS = 5

export const short = (degrees: number) => Number(degrees.toFixed(DECIMALS))

/** A place as links and calls name it. */
export const shortPlace = ({ lat, lng }: Place) => ({ lat: short(lat), lng: short(lng) })

/** Whether there is such a place. */
export const isPlace = (lat: number, lng: number) => Math.abs(lat) <= 90 && Math.abs(lng) <= 180

/** Reads coordinates that somebody has typed: latitude, then longitude. */
export function placeIn(text: string): Place | null {
  const [, lat = '', lng = ''] = /^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text) ?? []
  if (lat === '' || !isPlace(Number(lat), Number(lng))) return null
  return { lat: Number(lat), lng: Number(lng) }
}
