const LINE_FEED = 0x0a

/**
 * The lines of a stream of bytes, without their ends. Only a line feed ends one: what else Unicode calls a line
 * separator may stand inside.
 *
 * @param longest a line of more bytes is an error: a stream without any end of a line is not gathered
 * @throws {RangeError} at a line that is too long
 */
export async function* linesOf(stream: AsyncIterable<Buffer>, longest: number): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    let begin = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, begin)) {
      yield Buffer.concat([...pieces, chunk.subarray(begin, end)]).toString('utf8')
      pieces = []
      length = 0
      begin = end + 1
    }
    pieces.push(chunk.subarray(begin))
    length += chunk.length - begin
    if (length > longest) throw new RangeError(`a line has more than ${longest} bytes`)
  }
  if (length > 0) yield Buffer.concat(pieces).toString('utf8')
}
