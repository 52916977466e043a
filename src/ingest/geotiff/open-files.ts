import { OperatorError } from '#src/errors.ts'
import { Addresses } from './addresses.ts'
import { Archives } from './archives.ts'
import { openRaster, type RasterFile } from './file.ts'
import type { LayerFiles } from './layers.ts'

/** Files of a release. Where their strips and tiles are is kept of each of them while it is loaded. */
const MAX_FILES = 256

/** The files of a release, each of which is open once, however many layers are in it. */
export class OpenFiles {
  readonly #files = new Map<string, RasterFile>()
  readonly #groups = new Map<string, LayerFiles>()
  readonly #addresses = new Addresses()
  readonly #archives = new Archives()

  /**
   * The files of a layer; layers of the same files get the same object.
   *
   * @throws {OperatorError} when one cannot be used, or there are too many of them
   */
  async of([first, ...others]: readonly [string, ...string[]]): Promise<LayerFiles> {
    const key = JSON.stringify([first, ...others])
    const known = this.#groups.get(key)
    if (known) return known
    const group: [RasterFile, ...RasterFile[]] = [await this.#open(first)]
    for (const path of others) group.push(await this.#open(path))
    this.#groups.set(key, group)
    return group
  }

  async #open(path: string): Promise<RasterFile> {
    const known = this.#files.get(path)
    if (known) return known
    if (this.#files.size === MAX_FILES) {
      throw new OperatorError(
        `The release is in more than ${MAX_FILES} files: put some together with gdalbuildvrt and gdal_translate.`,
      )
    }
    const local = await this.#archives.pathOf(await this.#addresses.pathOf(path))
    const file = await openRaster(local)
    this.#files.set(path, file)
    return file
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close()
    await this.#archives.close()
    await this.#addresses.close()
  }
}
