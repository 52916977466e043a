import { existsSync, statSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'

/**
 * What of PostGIS nobody here asks for: other extensions, of which one is as large as PostGIS and would be compiled at
 * each start, and scripts for upgrades. What is left is half of it.
 */
const UNUSED = /topology|tiger|address_standardizer|sfcgal|--unpackaged|--ANY|\/contrib\//

/** A first start has enough to do: the smaller archive is for the next one. */
const MAKE_AFTER_MS = 30_000

/** A tar archive is made of blocks: one for the name and the size of a file, then those of its bytes. */
const BLOCK = 512
const NAME = { start: 0, end: 100 }
const SIZE = { start: 124, end: 136 }

/**
 * The archive with the files of PostGIS that a start takes: the smaller one that an earlier start has made of the
 * whole one, where there is one. Otherwise it is the whole one, and the smaller one is made some time later; where
 * that cannot be done, the next start takes as long as this one.
 *
 * @param whole what came with the package
 * @param folder of the smaller ones
 */
export function bundleFor(whole: URL, folder: string, makeAfterMs = MAKE_AFTER_MS): URL {
  // Another version of the package is of another length.
  const small = join(folder, `postgis-${statSync(whole).size}.tar.gz`)
  if (existsSync(small)) return pathToFileURL(small)
  setTimeout(() => writeSmaller(whole, small).catch(() => {}), makeAfterMs).unref()
  return whole
}

async function writeSmaller(whole: URL, small: string): Promise<void> {
  const archive = withoutUnused(await promisify(gunzip)(await readFile(whole)))
  const compressed = await promisify(gzip)(archive, { level: constants.Z_BEST_SPEED })
  const folder = dirname(small)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const unfinished = await open(`${small}.unfinished`, 'w')
  try {
    await unfinished.writeFile(compressed)
    // A loss of power leaves all of it under its name, or nothing.
    await unfinished.sync()
  } finally {
    await unfinished.close()
  }
  await rename(`${small}.unfinished`, small)
}

/** A tar archive without the files that nobody asks for. */
function withoutUnused(archive: Buffer): Buffer {
  const kept: Buffer[] = []
  let at = 0
  while (at < archive.length && archive[at] !== 0) {
    const name = textIn(archive, at, NAME)
    const bytes = Number.parseInt(textIn(archive, at, SIZE), 8)
    const end = at + BLOCK + Math.ceil(bytes / BLOCK) * BLOCK
    if (!UNUSED.test(name)) kept.push(archive.subarray(at, end))
    at = end
  }
  // Two empty blocks are its end.
  return Buffer.concat([...kept, Buffer.alloc(2 * BLOCK)])
}

function textIn(archive: Buffer, at: number, { start, end }: { start: number; end: number }): string {
  return archive.toString('latin1', at + start, at + end).split('\0')[0] as string
}
