import type { FastifyReply } from 'fastify'

/** The media types of answers that are saved as files, with the endings of their names. */
const EXTENSIONS = { 'text/csv': 'csv', 'application/geo+json': 'geojson' } as const

export type FileType = keyof typeof EXTENSIONS

/** What the documents say of the header. */
export const DISPOSITION = { type: 'string', description: 'The name of a file, for CSV and GeoJSON.' }

/** Whether an answer of a media type is saved as a file, rather than read by a program. */
export function isFileType(mediaType: string): mediaType is FileType {
  return mediaType in EXTENSIONS
}

/**
 * Says under which name an answer is to be saved.
 *
 * @param name of letters, digits and dashes, without an ending
 */
export function attach(reply: FastifyReply, mediaType: FileType, name: string): void {
  reply.header('content-disposition', `attachment; filename="${name}.${EXTENSIONS[mediaType]}"`)
}
