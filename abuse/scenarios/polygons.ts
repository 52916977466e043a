import { star } from '#bench/rasters/shapes.ts'
import { flood } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

const PATH = '/advisory/yield'
const CONNECTIONS = 20
const AT = { lat: 9.5, lng: 38.5 }

/** A comb of thin teeth: its edges lie beside each other over the whole of its height. */
function comb(teeth: number): object {
  const left = 38
  const width = 1 / (2 * teeth)
  const corners = Array.from({ length: 2 * teeth }, (_, index) => [
    Number((left + index * width).toFixed(7)),
    index % 2 === 0 ? 9 : 10,
  ])
  const ring = [...corners, [left + 1, 8.99], [left, 8.99], corners[0]]
  return { type: 'Polygon', coordinates: [ring] }
}

const attackWith = (name: string, attacker: string, geometry: () => object): Scenario => ({
  name,
  attacker,
  victims: ['kept point', 'history'],
  async begin({ newcomer }) {
    const body = JSON.stringify({ geometry: geometry() })
    return flood([await newcomer()], CONNECTIONS, () => ({ path: PATH, body }))
  },
})

export const combs = attackWith('combs', 'asks for a comb of 4,900 teeth over 20 connections', () =>
  comb(4900),
)

export const stars = attackWith('stars', 'asks for a star of 4,990 spikes over 20 connections', () =>
  star(AT, 1, 4990),
)

/** Rings that touch and cross each other all over: no polygon, which is found out by looking at all pairs. */
export const tangles = attackWith(
  'tangles',
  'asks for a line that crosses itself 1,000,000 times over 20 connections',
  () => {
    const corners = Array.from({ length: 2000 }, (_, index) => {
      const angle = (2 * Math.PI * ((index * 999) % 2001)) / 2001
      return [Number((AT.lng + Math.cos(angle)).toFixed(7)), Number((AT.lat + Math.sin(angle)).toFixed(7))]
    })
    return { type: 'Polygon', coordinates: [[...corners, corners[0]]] }
  },
)
