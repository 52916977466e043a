import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { isArchive, openZipArchive } from '#src/ingest/archive.ts'
import { refuseUnreadable } from '#src/ingest/other-formats.ts'
import { isWithin, listRasters } from '#src/ingest/readers.ts'
import { formatError } from '#src/lib/promises.ts'

/** A file that is no layer, and why. */
export interface LeftOut {
  file: string
  reason: string
}

/** A file that may be a raster. */
export interface Candidate {
  path: string
  /** From the folder, with slashes. */
  file: string
}

/** A release has at most 256 files. */
const MOST_FILES = 2000

/** Beside a raster, whose opener reads them. */
const BESIDE = /\.(?:aux\.xml|tfw|tifw|wld|prj|msk|ovr|aux|cpg|asc\.aux\.xml)$/i

/** They may say what no name and no metadata do. */
export const TEXT = 'a text, which is not read: look whether it says units, a licence or a source'

/** What folders have beside rasters. */
const OTHERS: [RegExp, string][] = [
  [
    /^(?:\._.*|\.DS_Store|Thumbs\.db|desktop\.ini|ehthumbs\.db)$/i,
    'a file of the computer that made the folder',
  ],
  [/\.(?:qgz|qgs|qml|qlr|sld|lyrx?|mxd|aprx)$/i, 'a project or a style of a GIS'],
  [/\.(?:shp|shx|dbf|sbn|sbx|geojson|gpkg|kmz?|fgb|gml)$/i, 'shapes, not a raster'],
  [/\.(?:txt|md|pdf|docx?|odt|rtf|html?|log)$/i, TEXT],
  [/\.(?:csv|tsv|xlsx?|xlsm|ods|json|xml)$/i, 'a table or data of a program'],
  [/\.ya?ml$/i, 'a text in YAML'],
  [/\.(?:py|r|rmd|ipynb|js|ts|sh|bat|m)$/i, 'a program'],
  [/\.(?:exe|dll|lnk|url|tmp|bak|part|crdownload)$/i, 'no raster'],
]

/**
 * Lists what a folder has, with its folders and zip archives.
 *
 * @throws {OperatorError} for a folder that cannot be read, or with too many files
 */
export async function listFiles(folder: string): Promise<{ candidates: Candidate[]; leftOut: LeftOut[] }> {
  const found: Candidate[] = []
  const leftOut: LeftOut[] = []
  for (const path of await walk(folder, folder)) {
    const file = relative(folder, path).replaceAll(sep, '/')
    if (!isArchive(path)) found.push({ path, file })
    else {
      try {
        for (const name of await listArchive(path))
          found.push({ path: join(path, name), file: name ? `${file}/${name}` : file })
      } catch (error) {
        leftOut.push({ file, reason: formatError(error) })
      }
    }
  }
  if (found.length > MOST_FILES)
    throw new OperatorError(`${folder} has ${found.length} files; at most ${MOST_FILES} are looked at.`)
  const stems = new Set(found.filter(({ file }) => !BESIDE.test(file)).map(({ file }) => stemOf(file)))
  const candidates = found.filter(({ file }) => {
    const reason = findReason(file, stems)
    if (reason) leftOut.push({ file, reason })
    return reason === undefined
  })
  return {
    // An unsaid file lies beside its raster.
    candidates: candidates.filter(({ file }) => !BESIDE.test(file)),
    leftOut,
  }
}

function findReason(file: string, stems: Set<string>): string | undefined {
  if (/(?:^|\/)__MACOSX\//.test(file)) return 'a file of macOS beside those of an archive'
  const name = basename(file)
  if (name.includes('*')) return 'a * stands for any text in manifests: give it another name'
  if (BESIDE.test(file)) {
    const whole = file.replace(BESIDE, '')
    return stems.has(whole) || stems.has(stemOf(file)) ? undefined : 'there is no raster that it lies beside'
  }
  return OTHERS.find(([form]) => form.test(name))?.[1]
}

/** A raster and what lies beside it have one. */
function stemOf(file: string): string {
  const whole = file.replace(BESIDE, '').replace(/\.gz$/i, '')
  return whole.slice(0, whole.length - extname(whole).length) || whole
}

/** Files, and folders that are rasters; links to folders are not followed. */
async function walk(folder: string, top: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) =>
    refuseUnreadable(folder, error),
  )
  const found: string[] = []
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...((await rastersOf(path)) ?? (await walk(path, top))))
    else if (!entry.isSymbolicLink() || (await isFile(path))) found.push(path)
    if (found.length > MOST_FILES)
      throw new OperatorError(`${top} has more than the ${MOST_FILES} files that are looked at.`)
  }
  return found
}

/** A folder that is a raster as a whole, with files in it that are others; undefined for other folders. */
async function rastersOf(folder: string): Promise<string[] | undefined> {
  const list = async (recursive: boolean) => {
    // The first is the folder itself.
    const names = ['/', ...(await readdir(folder, { recursive }).catch(() => []))]
    const rasters = await listRasters(names.map((name) => join(basename(folder), name)))
    return rasters.map((raster) => join(dirname(folder), raster))
  }
  return (await list(false)).includes(folder) ? list(true) : undefined
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}

async function listArchive(path: string): Promise<string[]> {
  const { names, close } = await openZipArchive(path, path)
  close()
  const files = names.filter((name) => !name.endsWith('/'))
  const rasters = await listRasters(files)
  const folders = rasters.filter((raster) => !files.includes(raster))
  const isInner = (name: string) => folders.some((folder) => isWithin(name, folder))
  return [...files.filter((name) => rasters.includes(name) || !isInner(name)), ...folders]
}
