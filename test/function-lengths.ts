/** A function of a file, and how many lines it has from its name to its closing brace. */
export interface FunctionLength {
  /** What it is called; of one without a name, the line that it begins in. */
  name: string
  lines: number
}

/** What is followed by parentheses and a brace, and no method. */
const STATEMENTS = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'return', 'await'])

/**
 * The functions of a source: declared ones, methods, and arrows with a block. They are found by the
 * indentation, which the formatter sees to: a block ends with the first brace as far left as its beginning.
 */
export function functionLengths(source: string): FunctionLength[] {
  const lines = source.split('\n')
  return lines.flatMap((line, start) => {
    const name = functionName(line)
    if (name === undefined) return []
    const indent = indentOf(line)
    const end = lines.findIndex(
      (other, at) => at > start && indentOf(other) === indent && /^ *\}(?!.*\{$)/.test(other),
    )
    return [{ name, lines: end - start + 1 }]
  })
}

function functionName(line: string): string | undefined {
  if (/^ *(\*( |$|\/)|\/)/.test(line)) return undefined
  const declared = /\bfunction\b\*? ?(\w*)/.exec(line)
  // Without a block at its end the whole function stands in the line, or in an overload.
  if (declared) return /[{(<]$/.test(line) ? declared[1] || line.trim() : undefined
  if (/=> \{$/.test(line)) return /\bconst (\w+) = /.exec(line)?.[1] ?? line.trim()
  const method = /^ *(?:(?:static|async|override|get|set) )*\*?(#?\w+)(?:<.*>)?\(.*\{$/.exec(line)?.[1]
  return method && !STATEMENTS.has(method) ? method : undefined
}

function indentOf(line: string): number {
  return line.search(/\S/)
}
