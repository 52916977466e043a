import { type Bench, POINT_PATH } from '../bench.ts'
import { ask, type Reply } from '../load/client.ts'
import type { Point } from '../rasters/raster.ts'
import type { AnswersResult } from '../results.ts'

const POINTS_WITH_VALUES = 2000
const POINTS_ANYWHERE = 500
const SHOWN = 5
const AT_A_TIME = 32

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
    const answers = await askEach(port, points)
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

/** Asks for each of some points, some at a time; the answers come in the order of the points. */
async function askEach(port: number, points: Point[]): Promise<Reply[]> {
  // Errors repeat it: those of two services are the same then.
  const headers = { 'x-request-id': 'bench' }
  const answers: Reply[] = []
  for (let from = 0; from < points.length; from += AT_A_TIME) {
    const some = points.slice(from, from + AT_A_TIME)
    const asked = some.map((body) => ask({ port }, { path: POINT_PATH, body, headers }))
    answers.push(...(await Promise.all(asked)))
  }
  return answers
}

function isRight({ status, body }: Reply, expected: string | undefined, reason: string | undefined): boolean {
  if (expected !== undefined) return status === 200 && body === expected
  return status === 404 && (reason === undefined || body === reason)
}
