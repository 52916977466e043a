import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { isArchive } from '../archive.ts'
import { download, shown } from '../download.ts'
import { isAddress } from '../manifest-paths.ts'

/** What may lie beside a raster, by what its address ends with in the place of the raster's ending, or behind it. */
const BESIDE = { instead: ['.tfw', '.tifw', '.wld', '.prj', '.aux', '.tab'], behind: ['.aux.xml', '.msk'] }

/** Bytes that the addresses of a release take while it is loaded. */
const MAX_BYTES = 4 * 2 ** 30
const PATIENCE = { silenceMs: 30_000, wholeMs: 3_600_000 }

/** Rasters at https addresses, which are downloaded while their release is loaded, with what lies beside them. */
export class Addresses {
  readonly #folders: string[] = []
  #bytes = 0

  /**
   * Where a file can be read: at its own path, unless that is an address.
   *
   * @throws {OperatorError} when it cannot be downloaded
   */
  async pathOf(path: string): Promise<string> {
    if (!isAddress(path)) return path
    const address = addressOf(path)
    const name = nameIn(address)
    const temporary = await mkdtemp(join(tmpdir(), 'agro-'))
    this.#folders.push(temporary)
    const folder = join(temporary, address.hostname)
    await mkdir(folder)
    const target = join(folder, name)
    if (!(await this.#download(address, target))) {
      throw new OperatorError(`${shown(address)} is not there, or may not be read.`, { code: 'NOT_FOUND' })
    }
    if (isArchive(name)) return target
    for (const { pathname, file } of namesBeside(address.pathname, target)) {
      const beside = new URL(address)
      beside.pathname = pathname
      if (!(await this.#download(beside, file))) await rm(file)
    }
    return target
  }

  /** @returns whether there is anything */
  async #download(address: URL, target: string): Promise<boolean> {
    const bytes = await download(address, target, { ...PATIENCE, maxBytes: MAX_BYTES - this.#bytes })
    this.#bytes += bytes ?? 0
    return bytes !== undefined
  }

  /** Removes what was downloaded. */
  async close(): Promise<void> {
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true })
  }
}

function addressOf(path: string): URL {
  const address = URL.canParse(path) ? new URL(path) : undefined
  if (address?.protocol !== 'https:') {
    throw new OperatorError(
      `${address ? shown(address) : 'An address'} is not read: rasters are at https addresses.`,
    )
  }
  if (address.username || address.password) {
    throw new OperatorError(
      `${shown(address)} is given with a name or a password, which manifests do not keep secret: download it first.`,
    )
  }
  return address
}

function nameIn({ pathname }: URL): string {
  return basename(pathname).replaceAll(/[^\w.-]/g, '_') || 'raster.tif'
}

function namesBeside(pathname: string, target: string): { pathname: string; file: string }[] {
  const ending = extname(pathname)
  // Old Windows systems write all names in capitals.
  const instead =
    ending !== '' && ending === ending.toUpperCase()
      ? BESIDE.instead.flatMap((end) => [end, end.toUpperCase()])
      : BESIDE.instead
  const stemOf = (path: string) => path.slice(0, path.length - extname(path).length)
  return [
    ...BESIDE.behind.map((end) => ({ pathname: pathname + end, file: target + end })),
    ...instead.map((end) => ({ pathname: stemOf(pathname) + end, file: stemOf(target) + end })),
  ]
}
