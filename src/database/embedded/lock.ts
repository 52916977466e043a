import { type FileHandle, open } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { tryLock } from 'fs-native-extensions'
import { OperatorError } from '#src/errors.ts'

/** Another process has the folder of an embedded database, which says nothing against the database. */
export class FolderInUse extends OperatorError {}

/**
 * Takes the folder of an embedded database for this process alone.
 *
 * Two processes on one folder lose rows silently. The lock is the kernel's, on an open file: a live
 * process cannot lose it, however busy it is, and a dead one cannot keep it.
 *
 * @returns the file to keep open; closing it gives the folder back
 * @throws {FolderInUse} says which process holds the folder
 */
export async function lockFolder(folder: string): Promise<FileHandle> {
  const file = await open(join(folder, 'lock'), 'a+')
  if (!tryLock(file.fd)) {
    const holder = (await file.readFile('utf8')).trim()
    await file.close()
    throw new FolderInUse(
      `The embedded database in ${folder} is in use by ${holder || 'another process'}. ` +
        'Stop that process first, or set DATABASE_URL: a PostgreSQL server can be shared.',
      { code: 'DATABASE_IN_USE' },
    )
  }
  await file.truncate(0)
  await file.write(`process ${process.pid} on ${hostname()}, started ${new Date().toISOString()}\n`)
  return file
}
