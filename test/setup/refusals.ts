import type { Called } from './calls.ts'

interface Detail {
  field: string
  message: string
  allowed?: string[]
}

/**
 * What is answered to requests that are refused, for a file that says so: a paragraph for each, with its name, the
 * status, the code, the fields that it is about, and the sentence. A field that has another sentence has it behind it,
 * and what it may be.
 */
export async function tellRefusals(
  cases: readonly (readonly [name: string, ask: () => Promise<Called>])[],
): Promise<string> {
  const told: string[] = []
  for (const [name, ask] of cases) {
    const { status, body } = await ask()
    const { code, error, details = [] } = body
    const fields = details.map(({ field, message, allowed }: Detail) => {
      const own = `${message}.` === error ? field : `${field} (${message})`
      return allowed ? `${own} [${allowed.join(', ')}]` : own
    })
    told.push(`${name}\n  ${[status, code, ...fields].join(' ')}\n  ${error}\n`)
  }
  return told.join('\n')
}
