import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { vi } from 'vitest'
import type { App } from '#src/http/app.ts'
import { readCsv } from '#src/lib/csv.ts'
import { PATIENCE } from '#test/setup/patience.ts'

/** Asks again where the file is still being made, as the service says. */
export function askUntilMade(app: App, request: InjectOptions): Promise<LightMyRequestResponse> {
  const ask = async () => {
    const answer = await app.inject(request)
    return answer.statusCode !== 503 && answer
  }
  return vi.waitUntil(ask, { ...PATIENCE, interval: 20 }) as Promise<LightMyRequestResponse>
}

export type PackRow = Record<string, string>

/** The rows of a pack by the names of its columns. */
export function readRows(text: string): PackRow[] {
  const [names = [], ...rows] = [...readCsv(text)].map(({ cells }) => cells)
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] as string])))
}
