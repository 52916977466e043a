/** What an operator can do about an embedded database that cannot be opened, by what it says; the first counts. */
const ADVICE: [reason: RegExp, advice: string][] = [
  [/No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/i, 'Make room there.'],
  [
    /Read-only file system|Permission denied|Operation not permitted|EROFS|EACCES|EPERM|ENOTDIR|EEXIST|ENOENT/,
    'Set DATA_DIR to one that can be written to.',
  ],
  [
    /incompatible with server/,
    'Start the version of the service that made them, or put back a backup of this one.',
  ],
  [
    /pg_control|control file|pg_wal|WAL|checkpoint|PG_VERSION|invalid page|could not (open|read) file|does not exist/,
    'Its files are damaged: put back a backup, or move them away to begin anew.',
  ],
]

/** The sentence on what to do about a reason why the embedded database cannot be opened. */
export function adviceOn(reason: string): string {
  const known = ADVICE.find(([pattern]) => pattern.test(reason))
  return known ? known[1] : 'If its files are damaged, put back a backup, or move them away to begin anew.'
}
