import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '#src/lib/caught.ts'

/** What names the owner of a folder: its machine or container, its process, and when that started. */
const OWNER = /^(?<host>[0-9a-f]{12})-(?<pid>\d{1,10})-(?<start>\d+)-\w{6}$/

/**
 * Makes a folder that is this process's own, and removes those of processes that ended without removing theirs. It
 * leaves those of other machines and containers, whose processes cannot be seen from here.
 *
 * @param parent what it is made in
 * @param prefix what its name begins with, and no others' do
 */
export async function makeOwnFolder(parent: string, prefix: string): Promise<string> {
  await removeAbandoned(parent, prefix)
  return mkdtemp(join(parent, `${prefix}${hostName()}-${process.pid}-${await startOf(process.pid)}-`))
}

async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue
    const { host, pid, start } = OWNER.exec(entry.name.slice(prefix.length))?.groups ?? {}
    if (host !== hostName() || (await startOf(Number(pid))) === start) continue
    // Somebody else's, or being removed by another process: it is not needed for what is made now.
    await rm(join(parent, entry.name), { recursive: true, force: true }).catch(() => {})
  }
}

/** The same for all processes that see each other, and nothing but letters of a name. */
function hostName(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 12)
}

/**
 * When a process started, in ticks since the machine did: another one may have its number later. `0` where the system
 * does not tell; undefined where there is no such process.
 */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return undefined
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // Behind the name, which is in brackets and may have any letters, it is the twentieth field.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}
