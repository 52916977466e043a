import { printable } from '../table.ts'
import type { Answer } from './calls.ts'

/** What is shown of a list, of a text, of what lies within, and of all of it. */
const MOST = { items: 4, characters: 90, depth: 5, lines: 36, textLines: 6 }

/** Stands for what was left out of an answer. */
class LeftOut {
  readonly note: string

  constructor(note: string) {
    this.note = note
  }
}

/**
 * An answer as far as a screen has room for it. What was left out is said where it was, in words that are no JSON, and at
 * the end by how much there is in all.
 *
 * @param width columns of the terminal
 */
export function shownAnswer({ status, mediaType, text, json }: Answer, width: number): string {
  const head = [String(status), mediaType].filter(Boolean).join('  ')
  if (text === '') return `${head}\n(no body)`
  if (json === undefined && !/^(text\/|application\/.*json)/.test(mediaType)) {
    return `${head}\n(${sizeOf(text)} of ${mediaType || 'an unknown type'})`
  }
  const { lines, isWhole } = json === undefined ? shownText(text, width) : shownJson(json, width)
  const note = isWhole ? [] : [`(shortened: the answer has ${sizeOf(text)})`]
  return [head, ...lines.map(printable), ...note].join('\n')
}

interface Shown {
  lines: string[]
  isWhole: boolean
}

function shownText(text: string, width: number): Shown {
  const all = text.trimEnd().split(/\r?\n/)
  const some = all.slice(0, MOST.textLines)
  const lines = some.map((line) => inTheMiddle(line, width))
  const isWhole = all.length === some.length && lines.every((line, index) => line === some[index])
  return { lines: [...lines, ...moreLines(all.length - some.length)], isWhole }
}

/** A row without its middle, where it is too long: it begins with what it is about, and ends with what came of it. */
function inTheMiddle(line: string, width: number): string {
  const mark = ' ... '
  if (line.length <= width) return line
  const half = Math.floor((width - mark.length) / 2)
  return `${line.slice(0, half)}${mark}${line.slice(-half)}`
}

function shownJson(json: unknown, width: number): Shown {
  const cut = shortened(json)
  const all = layout(cut, '', width).split('\n')
  const lines = all.slice(0, MOST.lines)
  const isWhole = all.length === lines.length && JSON.stringify(cut) === JSON.stringify(json)
  return { lines: [...lines, ...moreLines(all.length - lines.length)], isWhole }
}

function moreLines(count: number): string[] {
  return count > 0 ? [`... ${count} more ${count === 1 ? 'line' : 'lines'}`] : []
}

function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    return value.length > MOST.characters ? `${value.slice(0, MOST.characters)}...` : value
  }
  if (value === null || typeof value !== 'object') return value
  const size = Object.keys(value).length
  if (depth >= MOST.depth && size > 0) return new LeftOut(Array.isArray(value) ? '[...]' : '{...}')
  if (!Array.isArray(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, shortened(member, depth + 1)]),
    )
  }
  const items = value.slice(0, MOST.items).map((item) => shortened(item, depth + 1))
  return size > items.length ? [...items, new LeftOut(`... ${size - items.length} more`)] : items
}

/** JSON on one line where that fits, else with a member or an item on each. */
function layout(value: unknown, indent: string, width: number, label = ''): string {
  const line = `${indent}${label}${onOneLine(value)}`
  if (line.length <= width || value === null || typeof value !== 'object' || value instanceof LeftOut)
    return line
  const inside = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item) => layout(item, inside, width))
    : Object.entries(value).map(([key, member]) => layout(member, inside, width, `${JSON.stringify(key)}: `))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${indent}${label}${open}\n${parts.join(',\n')}\n${indent}${close}`
}

function onOneLine(value: unknown): string {
  if (value instanceof LeftOut) return value.note
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${onOneLine(member)}`)
  return `{${members.join(', ')}}`
}

function sizeOf(text: string): string {
  const bytes = Buffer.byteLength(text)
  return bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`
}

/** Breaks a text between words, so that no line is wider; a word that is wider by itself stays whole. */
export function wrapped(text: string, width: number): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}
