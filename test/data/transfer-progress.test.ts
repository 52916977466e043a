import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { exportDatabase, importDatabase } from '#src/data/transfer/copy.ts'
import { openTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'

// Runs on a server alone: export and import are tried on both databases by the command line.

async function open(template: 'demo' | 'empty') {
  const opened = await openTestDatabase(template)
  onTestFinished(() => opened.close())
  return opened.database.writer
}

const isAscending = (parts: number[]) => parts.every((part, index) => part >= (parts[index - 1] ?? 0))

test('an export and an import say how far they are, in parts that grow to all of it', async () => {
  const file = join(await newFolder(), 'all.agro')
  const written: number[] = []
  await exportDatabase(await open('demo'), file, (part) => written.push(part))
  expect([isAscending(written), written.at(-1)]).toEqual([true, expect.closeTo(1, 1)])
  expect(written.length).toBeGreaterThan(100)

  const phases: Record<string, number[]> = {}
  await importDatabase(await open('empty'), file, (phase) => {
    const parts: number[] = []
    phases[phase] = parts
    return (part) => parts.push(part)
  })
  expect(Object.keys(phases)).toEqual(['importing', 'comparing', 'linking'])
  for (const parts of Object.values(phases)) {
    expect([isAscending(parts), parts.at(-1)]).toEqual([true, expect.closeTo(1, 1)])
    expect(parts.length).toBeGreaterThan(10)
  }
})
