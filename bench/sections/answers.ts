import { type Answer, askEach } from '../ask.ts'
import { type Bench, POINT_PATH } from '../bench.ts'
import type { Point } from '../rasters/raster.ts'
import type { AnswersResult } from '../results.ts'

const POINTS_WITH_VALUES = 2000
const POINTS_ANYWHERE = 500
const SHOWN = 5

/** A path that answers point requests, by its name and port. */
export interface Path {
  name: string
  port: number
  /** Paths of one service on one database say why there is no value, in the same words. */
  givesReasons: boolean
}

/** The points that every path is asked for. */
export function pointsToCompare({ places }: Bench): Point[] {
  return [...places.uniform.slice(0, POINTS_WITH_VALUES), ...places.anywhere.slice(0, POINTS_ANYWHERE)]
}

/**
 * Asks every path for the same points. To the byte, the bodies must be what the bench itself makes of the
 * rasters; where there is no value, the reasons must be the same.
 */
export async function compareAnswers(bench: Bench, paths: Path[]): Promise<AnswersResult> {
  const points = pointsToCompare(bench)
  const reasons = new Map<number, string>()
  const differences: string[] = []
  for (const { name, port, givesReasons } of paths) {
    const answers = await askEach(port, POINT_PATH, points)
    answers.forEach((answer, index) => {
      const expected = bench.data.answerAt(points[index] as Point)
      const reason = expected === undefined && givesReasons ? (reasons.get(index) ?? answer.body) : undefined
      if (reason !== undefined) reasons.set(index, reason)
      if (!isRight(answer, expected, reason)) {
        differences.push(`${name} answers ${answer.status} ${answer.body}, not ${expected ?? reason ?? 404}`)
      }
    })
  }
  bench.problems.push(...differences.slice(0, SHOWN))
  return { points: points.length, paths: paths.map(({ name }) => name), different: differences.length }
}

function isRight(
  { status, body }: Answer,
  expected: string | undefined,
  reason: string | undefined,
): boolean {
  if (expected !== undefined) return status === 200 && body === expected
  return status === 404 && (reason === undefined || body === reason)
}
