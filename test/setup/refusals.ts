import type { Called } from './calls.ts'

/**
 * What is answered to requests that are refused, for a file that says so: a paragraph for each, with its name, the
 * status, the code, the fields that it is about, and the sentence. A field that has another sentence has it behind it.
 */
export async function tellRefusals(
  cases: readonly (readonly [name: string, ask: () => Promise<Called>])[],
): Promise<string> {
  const told: string[] = []
  for (const [name, ask] of cases) {
    const { status, body } = await ask()
    const { code, error, details = [] } = body
    const fields = details.map(({ field, message }: Record<string, string>) =>
      `${message}.` === error ? field : `${field} (${message})`,
    )
    told.push(`${name}\n  ${[status, code, ...fields].join(' ')}\n  ${error}\n`)
  }
  return told.join('\n')
}
