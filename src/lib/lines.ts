const LINE_FEED = 0x0a

/**
 * The lines of a stream of bytes, without their ends. Only a line feed ends one: what else Unicode calls a line
 * separator may stand inside.
 *
 * @param longest bytes of a line, by its number and its first character: a stream without any end of a line is not gathered
 * @throws {RangeError} at a line that is too long
 */
export async function* linesOf(
  stream: AsyncIterable<Buffer>,
  longest: (line: number, first: string) => number,
): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  let length = 0
  let line = 1
  for await (const chunk of stream) {
    let begin = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, begin)) {
      yield Buffer.concat([...pieces, chunk.subarray(begin, end)]).toString('utf8')
      pieces = []
      length = 0
      line++
      begin = end + 1
    }
    if (begin === chunk.length) continue
    pieces.push(chunk.subarray(begin))
    length += chunk.length - begin
    const most = longest(line, String.fromCharCode(pieces[0]?.[0] as number))
    if (length > most) throw new RangeError(`line ${line} has more than ${most} bytes`)
  }
  if (length > 0) yield Buffer.concat(pieces).toString('utf8')
}
