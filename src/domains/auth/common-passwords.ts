import { readFile } from 'node:fs/promises'

const FILE = new URL('./common-passwords.txt', import.meta.url)

let loaded: Promise<Set<string>> | undefined

/** Whether a password is among the 10,000 most common ones of its length, in whatever case. */
export async function isCommonPassword(password: string): Promise<boolean> {
  loaded ??= load()
  return (await loaded).has(password.normalize('NFKC').toLowerCase())
}

async function load(): Promise<Set<string>> {
  const lines = (await readFile(FILE, 'utf8')).split('\n')
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('# ')))
}
