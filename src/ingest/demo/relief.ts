import type { Bounds } from '#src/raster/rings.ts'

/**
 * An invented relief and climate. It is made of integer hashes and of +, -, *, / and roots alone, which IEEE 754 rounds
 * in one way: every machine and every version of Node computes the same bits.
 */

/** What the relief of a country is like. */
export interface Terrain {
  /** Its mountains rise around the middle of these. */
  bounds: Bounds
  /** Length of the largest forms, in degrees; the smallest are about a thirty-second of it. */
  grain: number
  /** Metres above the sea at the borders, and what the land inside rises to, without the mountains. */
  low: number
  high: number
  /** Metres that the mountains add. */
  rugged: number
  /** Metres that a valley cuts into the highland. */
  rift: number
}

/** The nature of a place. */
export interface Land {
  /** Metres above the sea at the equator with the temperature of the place. */
  coolness: number
  /** From 0, dry, to 1, wet. */
  moisture: number
  /** How the place lies among its hills: from about -1, at their feet, to about 1, on top. */
  hills: number
  /** Of the coming season: from about -1, dry, to about 1, wet. */
  outlook: number
  /** How much is known of the season: from about -1, little, to about 1, much. */
  certainty: number
  /** Position in units of the grain, on axes that are turned against parallels and meridians. */
  x: number
  y: number
}

/**
 * One for each noise, so that they differ; octaves add multiples of 64, quantities have seeds from 1000 on. With the last
 * two each season is the most likely one in a quarter of each country, more or less.
 */
const SEEDS = { warpX: 1, warpY: 2, swell: 3, ridge: 4, moisture: 5, hills: 8, outlook: 35, certainty: 9 }

/** Coolness of a degree of latitude, in metres: about 0.1 K. */
const METRES_A_DEGREE = 18

/**
 * A highland that falls to the borders, chains of mountains, hills, a valley across the middle, and moisture that falls
 * with the latitude.
 */
export function describeLand(terrain: Terrain, longitude: number, latitude: number): Land {
  const [west, south, east, north] = terrain.bounds
  const [turnedX, turnedY] = [0.8 * longitude - 0.6 * latitude, 0.6 * longitude + 0.8 * latitude]
  const [x, y] = [turnedX / terrain.grain, turnedY / terrain.grain]
  const bendX = noise(SEEDS.warpX, x * 1.7, y * 1.7)
  const bendY = noise(SEEDS.warpY, x * 1.7, y * 1.7)
  const [bentX, bentY] = [x + 0.22 * bendX, y + 0.22 * bendY]

  /** From the middle, 0, to the frame, 1. */
  const across = (2 * longitude - west - east) / (east - west) + 0.3 * bendX
  const along = (2 * latitude - south - north) / (north - south) + 0.3 * bendY
  const swell = sumOctaves(SEEDS.swell, bentX, bentY, 6)
  const inside = easeBetween(1.3, 0.35, Math.sqrt(across * across + along * along) - 0.25 * swell)
  const valley = 1 - easeBetween(0.06, 0.3, Math.abs(0.8 * across - 0.6 * along + 0.12 * bendY))
  const highland = inside * (0.8 + 0.35 * swell)
  const hills = sumOctaves(SEEDS.hills, 6 * x, 6 * y, 3)
  const mountains = sumRidges(SEEDS.ridge, 2.3 * bentX, 2.3 * bentY, 5) + 0.06 * hills
  const elevation =
    terrain.low +
    (terrain.high - terrain.low) * highland +
    terrain.rugged * (0.12 + 0.88 * inside) * mountains -
    terrain.rift * valley * inside
  const wet = 0.55 + 0.25 * sumOctaves(SEEDS.moisture, bentX, bentY, 4) + 0.2 * inside
  return {
    coolness: Math.max(0, elevation) + METRES_A_DEGREE * Math.abs(latitude),
    moisture: between(0, 1, wet - 0.015 * Math.abs(latitude)),
    hills,
    outlook: sumOctaves(SEEDS.outlook, turnedX / 2.5, turnedY / 2.5, 2),
    certainty: noise(SEEDS.certainty, turnedX / 2.4, turnedY / 2.4),
    x,
    y,
  }
}

/** Fractal noise of a seed: each octave has half the length of the one before, and 0.55 of its height. */
export function sumOctaves(seed: number, x: number, y: number, octaves: number): number {
  let [sum, weight] = [0, 1]
  for (let octave = 0; octave < octaves; octave++) {
    sum += weight * noise(seed + octave * 64, x, y)
    weight *= 0.55
    // Twice the frequency, turned by the angle of the triangle 3, 4, 5: lattices of octaves never lie on each other.
    ;[x, y] = [1.6 * x - 1.2 * y, 1.2 * x + 1.6 * y]
  }
  return sum
}

/**
 * Chains of mountains from 0 to 1: (1 - |noise|) squared is sharp where the noise changes its sign. Ridges of an octave
 * stand on those of the one before (Musgrave, Kolb, Mace 1989; Ebert et al., Texturing and Modeling, 3rd ed., ch. 16).
 */
function sumRidges(seed: number, x: number, y: number, octaves: number): number {
  let [sum, weight, total, share] = [0, 1, 0, 1]
  for (let octave = 0; octave < octaves; octave++) {
    const crest = 1 - Math.min(1, 1.6 * Math.abs(noise(seed + octave * 64, x, y)))
    const ridge = crest * crest * weight
    sum += share * ridge
    total += share
    weight = Math.min(1, 2.2 * ridge + 0.15)
    share *= 0.6
    ;[x, y] = [1.6 * x - 1.2 * y, 1.2 * x + 1.6 * y]
  }
  return sum / total
}

/**
 * Gradient noise (Perlin 1985, with the curve of 2002) around hashed values, which are not 0 at all corners of the
 * lattice. From -1.9 to 1.9, within -0.8 and 0.8 nearly everywhere; the length of its forms is about 1.
 */
function noise(seed: number, x: number, y: number): number {
  const column = Math.floor(x)
  const row = Math.floor(y)
  const right = x - column
  const up = y - row
  const eastward = right * right * right * (right * (right * 6 - 15) + 10)
  const northward = up * up * up * (up * (up * 6 - 15) + 10)
  const west = Math.imul(column, 0x27d4eb2d) ^ Math.imul(seed, 0x9e3779b1)
  const east = Math.imul(column + 1, 0x27d4eb2d) ^ Math.imul(seed, 0x9e3779b1)
  const south = Math.imul(row, 0x165667b1)
  const north = Math.imul(row + 1, 0x165667b1)
  const southWest = planeAt(west ^ south, right, up)
  const northWest = planeAt(west ^ north, right, up - 1)
  const below = southWest + eastward * (planeAt(east ^ south, right - 1, up) - southWest)
  const above = northWest + eastward * (planeAt(east ^ north, right - 1, up - 1) - northWest)
  return below + northward * (above - below)
}

/** The plane of a corner: 11 bits of the mixed number (MurmurHash3's finalizer) for each slope, 10 for the height. */
function planeAt(corner: number, right: number, up: number): number {
  let hash = Math.imul(corner ^ (corner >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash ^= hash >>> 16
  return (
    ((hash >>> 22) - 512) * (0.6 / 512) +
    ((hash & 2047) - 1024) * (1.3 / 1024) * right +
    (((hash >>> 11) & 2047) - 1024) * (1.3 / 1024) * up
  )
}

/** Smoothly from 0 at one value to 1 at the other, which may be the smaller one. */
function easeBetween(from: number, to: number, value: number): number {
  const part = between(0, 1, (value - from) / (to - from))
  return part * part * (3 - 2 * part)
}

export function between(least: number, most: number, value: number): number {
  return Math.min(most, Math.max(least, value))
}
