const BLOCK = 512

/** Makes an archive of files (POSIX ustar) with no times and owners in it: the same files are the same bytes. */
export function tarOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const pieces = [...files].flatMap(([name, bytes]) => [headerOf(name, bytes.length), padded(bytes)])
  return Buffer.concat([...pieces, Buffer.alloc(2 * BLOCK)])
}

function headerOf(name: string, length: number): Buffer {
  if (Buffer.byteLength(name) > 99) throw new RangeError(`${name} is too long for a name in an archive`)
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  // The sum is taken with blanks in its own place.
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])
}
