import type { Static, TObject } from 'typebox'
import type { Asker } from '../lookup/advice-desk.ts'
import type { Draft } from './drafts.ts'

/** What an agent may call. */
export interface Tool {
  name: string
  title: string
  /** Agents choose by it: the answer, its units, and an example. */
  description: string
  input: TObject
  /**
   * @param input that the schema has found to be right
   * @throws {ApiError} which says why there is no answer
   */
  run(input: never, by: Asker): Promise<Draft>
}

/** A tool whose input is of the type that its schema says. */
export function defineTool<Input extends TObject>(
  tool: Omit<Tool, 'input' | 'run'> & {
    input: Input
    run(input: Static<Input>, by: Asker): Promise<Draft>
  },
): Tool {
  return tool
}
