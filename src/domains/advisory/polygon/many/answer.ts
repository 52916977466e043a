import type { Pause } from '#src/lib/turns.ts'
import type { Item } from './items.ts'
import type { Writer } from './writers.ts'

/**
 * The answer in pieces, an item each, in their order.
 *
 * @param pause lets others go on before an item is written
 */
export async function* writeAnswer(
  items: AsyncIterable<Item>,
  writer: Writer,
  pause: Pause,
): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const item of items) {
    await pause()
    yield Buffer.from((isFirst ? writer.opening : writer.separator) + writer.write(item))
    isFirst = false
  }
  const end = (isFirst ? writer.opening : '') + writer.closing
  if (end !== '') yield Buffer.from(end)
}

/** What a generator yields, of which the first piece has been taken. */
export async function* withFirst(
  { done, value }: IteratorResult<Buffer>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (done) return
  yield value
  yield* rest
}
