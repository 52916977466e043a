import { messageOf } from '#src/lib/caught.ts'

/** Emscripten numbers what can go wrong with files as WASI does, and says nothing else about it. */
const SENTENCES: Record<number, string> = {
  2: 'EACCES: permission denied',
  19: 'EDQUOT: disk quota exceeded',
  29: 'EIO: i/o error',
  51: 'ENOSPC: no space left on device',
  63: 'EPERM: operation not permitted',
  69: 'EROFS: read-only file system',
}

/** What an error says that PGlite has thrown: one about files is no Error, and has a number alone. */
export function fileErrorOf(error: unknown): string {
  const number = (error as { errno?: number } | null)?.errno
  return (number !== undefined && SENTENCES[number]) || messageOf(error)
}
