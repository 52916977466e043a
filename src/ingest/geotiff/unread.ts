import { stat } from 'node:fs/promises'
import { extname } from 'node:path'

/** Files of other software beside FILE.tif that may say something of it, by what they end with. */
const UNREAD = ['.aux', '.tab']

/** What lies beside a raster and was not followed, a sentence each; nothing of what is read. */
export async function unreadBeside(path: string): Promise<string[]> {
  const stem = path.slice(0, path.length - extname(path).length)
  const notes: string[] = []
  for (const extension of UNREAD) {
    const beside = `${stem}${extension}`
    const there = await stat(beside).then(
      (status) => status.isFile(),
      () => false,
    )
    if (there) notes.push(`${beside} is not read: what it says of ${path} does not count.`)
  }
  return notes
}
