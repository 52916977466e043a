const TYPES = {
  byte: { code: 1, bytes: 1, write: (to: Buffer, value: number, at: number) => to.writeInt8(value, at) },
  char: { code: 2, bytes: 1, write: (to: Buffer, value: number, at: number) => to.writeUInt8(value, at) },
  short: { code: 3, bytes: 2, write: (to: Buffer, value: number, at: number) => to.writeInt16BE(value, at) },
  int: { code: 4, bytes: 4, write: (to: Buffer, value: number, at: number) => to.writeInt32BE(value, at) },
  float: { code: 5, bytes: 4, write: (to: Buffer, value: number, at: number) => to.writeFloatBE(value, at) },
  double: {
    code: 6,
    bytes: 8,
    write: (to: Buffer, value: number, at: number) => to.writeDoubleBE(value, at),
  },
}

type TypeName = keyof typeof TYPES

/** Numbers are doubles unless they have a type. */
type Attributes = Record<string, string | number | readonly [TypeName, readonly number[]]>

export interface WrittenVariable {
  dimensions: string[]
  type: TypeName
  /** All values, the last dimension first. */
  values: number[]
  attributes?: Attributes
}

export interface WrittenNetcdf {
  dimensions: Record<string, number>
  /** The first dimension of variables whose records are interleaved. */
  unlimited?: string
  variables: Record<string, WrittenVariable>
  attributes?: Attributes
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])

const named = (text: string) => Buffer.concat([int(Buffer.byteLength(text)), padded(Buffer.from(text))])

function encode(type: TypeName, values: number[]): Buffer {
  const { bytes, write } = TYPES[type]
  const all = Buffer.alloc(bytes * values.length)
  values.forEach((value, at) => void write(all, value, at * bytes))
  return all
}

function list(tag: number, entries: Buffer[]): Buffer {
  return entries.length === 0 ? Buffer.alloc(8) : Buffer.concat([int(tag), int(entries.length), ...entries])
}

function attributesOf(attributes: Attributes = {}): Buffer {
  const entries = Object.entries(attributes).map(([name, value]) => {
    const [type, values] =
      typeof value === 'string'
        ? (['char', [...Buffer.from(value)]] as const)
        : typeof value === 'number'
          ? (['double', [value]] as const)
          : value
    const head = [named(name), int(TYPES[type].code), int(values.length)]
    return Buffer.concat([...head, padded(encode(type, values as number[]))])
  })
  return list(12, entries)
}

/** A file of NetCDF 3, in the classic format. */
export function writeNetcdf({ dimensions, unlimited, variables, attributes }: WrittenNetcdf): Buffer {
  const names = Object.keys(dimensions)
  const parts = Object.entries(variables).map(([name, variable]) => {
    const isRecord = variable.dimensions[0] === unlimited && unlimited !== undefined
    const records = isRecord ? (dimensions[unlimited as string] as number) : 1
    const each = variable.values.length / records
    const pieces = Array.from({ length: records }, (_, at) =>
      encode(variable.type, variable.values.slice(at * each, (at + 1) * each)),
    )
    return { name, variable, isRecord, pieces }
  })
  const single = parts.filter(({ isRecord }) => isRecord).length === 1
  const stored = (bytes: Buffer, isRecord: boolean) => (isRecord && single ? bytes : padded(bytes))
  const head = (offsets: number[]) =>
    Buffer.concat([
      Buffer.from('CDF\x01'),
      int(unlimited === undefined ? 0 : (dimensions[unlimited] as number)),
      list(
        10,
        names.map((name) =>
          Buffer.concat([named(name), int(name === unlimited ? 0 : (dimensions[name] as number))]),
        ),
      ),
      attributesOf(attributes),
      list(
        11,
        parts.map(({ name, variable, pieces }, at) =>
          Buffer.concat([
            named(name),
            int(variable.dimensions.length),
            ...variable.dimensions.map((dimension) => int(names.indexOf(dimension))),
            attributesOf(variable.attributes),
            int(TYPES[variable.type].code),
            int(padded(pieces[0] as Buffer).length),
            int(offsets[at] as number),
          ]),
        ),
      ),
    ])
  let at = head(parts.map(() => 0)).length
  const offsets: number[] = []
  const data: Buffer[] = []
  const put = (bytes: Buffer) => {
    data.push(bytes)
    at += bytes.length
  }
  for (const [index, { pieces, isRecord }] of parts.entries()) {
    if (isRecord) continue
    offsets[index] = at
    put(padded(pieces[0] as Buffer))
  }
  const ofRecords = parts.filter(({ isRecord }) => isRecord)
  for (let record = 0; record < (ofRecords[0]?.pieces.length ?? 0); record++) {
    for (const part of ofRecords) {
      if (record === 0) offsets[parts.indexOf(part)] = at
      put(stored(part.pieces[record] as Buffer, true))
    }
  }
  return Buffer.concat([head(offsets), ...data])
}
