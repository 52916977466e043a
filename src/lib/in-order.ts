/**
 * Does tasks, a few at the same time, and yields what they come to in their order. None begins before what has come
 * of those before it is taken. Where no more of them can be had, that is told in its turn as well.
 *
 * @param atOnce so many at the same time
 */
export async function* inOrder<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
  atOnce: number,
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = []
  for await (const task of failingInTurn(tasks)) {
    const result = task()
    // Where it fails, that is told in its turn, or to nobody where one before it has failed.
    result.catch(() => {})
    underWay.push(result)
    if (underWay.length === atOnce) yield underWay.shift() as Promise<Result>
  }
  yield* underWay
}

async function* failingInTurn<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
): AsyncGenerator<() => Promise<Result>> {
  try {
    yield* tasks
  } catch (error) {
    yield () => Promise.reject(error)
  }
}
