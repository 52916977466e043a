/** The last message of an answer: type, length 5, and the state of the transaction. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5])
const OUTSIDE_TRANSACTION = 0x49

/** A Query message: a statement without parameters. */
export function queryMessage(statement: string): Uint8Array {
  const message = Buffer.alloc(1 + 4 + Buffer.byteLength(statement) + 1)
  message.write('Q')
  message.writeUInt32BE(message.length - 1, 1)
  message.write(statement, 5)
  return message
}

/** Whether an answer ends with the server ready for the next query, and outside of any transaction. */
export function isIdle(answer: Uint8Array): boolean {
  return endsReadyForQuery(answer) && answer.at(-1) === OUTSIDE_TRANSACTION
}

/** Whether an answer is one to the end, as those to all requests are, errors included. */
export function endsReadyForQuery(answer: Uint8Array): boolean {
  const at = answer.length - 6
  return at >= 0 && READY_FOR_QUERY.every((byte, index) => answer[at + index] === byte)
}
