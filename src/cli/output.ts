import type { Command } from 'commander'
import type { OperatorError } from '#src/errors.ts'

/** What a command tells goes to stdout, for people or for programs; whatever else there is to say to stderr. */
export interface Output {
  json?: boolean
}

export const JSON_OPTION = ['--json', 'answer in JSON, for programs'] as const

/** Prints what a program or else what a person is told. */
export function print({ json }: Output, value: unknown, text: string): void {
  console.log(json ? JSON.stringify(value, null, 2) : text)
}

/**
 * Ends a command that is refused and has something to tell all the same: of JSON, both make one document.
 *
 * @param text for people; nothing where it is left out
 */
export function refuse({ json }: Output, value: object, refusal: OperatorError, text?: string): never {
  if (json) refusal.told = value
  else if (text !== undefined) console.log(text)
  throw refusal
}

/** Says something beside what was asked for, which no program should take for a part of it. */
export function say(kind: 'note' | 'error' | 'allowed', sentence: string): void {
  console.error(`${kind}: ${sentence}`)
}

/** Shows below the help of a command how it is called. */
export function withExamples(command: Command, ...examples: string[]): Command {
  return command.addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
}
