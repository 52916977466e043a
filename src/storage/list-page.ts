import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { fileAt, type ListedFile, StorageUnavailable } from './store.ts'

/** Some of the files of a bucket, and what the next of them are asked for with. */
export interface ListPage {
  files: ListedFile[]
  next: string | undefined
}

/**
 * Reads a page of ListObjectsV2.
 *
 * @param below what the names begin with that are listed
 * @throws {StorageUnavailable} where it is none, or does not say all of its files: who sweeps relies on that
 */
export function pageOf(place: string, text: string, below: string): ListPage {
  const root = rootOf(text)
  if (root?.name !== 'ListBucketResult') throw notUnderstood(place)
  const files = childrenOf(root, 'Contents').flatMap((entry) => {
    const file = fileAt(textOf(entry, 'Key').slice(below.length))
    if (!file) return []
    const bytes = Number.parseInt(textOf(entry, 'Size'), 10)
    const writtenAt = new Date(textOf(entry, 'LastModified'))
    if (Number.isNaN(bytes) || Number.isNaN(writtenAt.getTime())) throw notUnderstood(place)
    return [{ ...file, bytes, writtenAt }]
  })
  const next = textOf(root, 'NextContinuationToken') || undefined
  if (textOf(root, 'IsTruncated') === 'true' && next === undefined) throw notUnderstood(place)
  return { files, next }
}

function rootOf(text: string): XmlElement | null {
  try {
    return parseXml(text).root
  } catch {
    return null
  }
}

function notUnderstood(place: string): StorageUnavailable {
  return new StorageUnavailable(`${place} answers with something else than a list of its files`, {
    hasAnswered: true,
  })
}

function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child.type === 'element' && (child as XmlElement).name === name,
  )
}

function textOf(element: XmlElement, name: string): string {
  return childrenOf(element, name)[0]?.text ?? ''
}
