import type { Command } from 'commander'

/** What a command tells goes to stdout, for people or for programs; whatever else there is to say to stderr. */
export interface Output {
  json?: boolean
}

export const JSON_OPTION = ['--json', 'answer in JSON, for programs'] as const

/** Prints what a program or else what a person is told. */
export function print({ json }: Output, value: unknown, text: string): void {
  console.log(json ? JSON.stringify(value, null, 2) : text)
}

/** Says something beside what was asked for, which no program should take for a part of it. */
export function say(kind: 'note' | 'error' | 'allowed', sentence: string): void {
  console.error(`${kind}: ${sentence}`)
}

/** Shows below the help of a command how it is called. */
export function withExamples(command: Command, ...examples: string[]): Command {
  return command.addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
}
