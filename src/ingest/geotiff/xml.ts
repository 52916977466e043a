import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'

/**
 * The outermost element of an XML text; undefined where it is of another name.
 *
 * @param name what sentences call the text
 * @throws {OperatorError} when it is no XML
 */
export function rootOf(text: string, element: string, name: string): XmlElement | undefined {
  try {
    const { root } = parseXml(text)
    return root?.name === element ? root : undefined
  } catch (error) {
    throw new OperatorError(`${name} is damaged: ${messageOf(error).split('\n')[0]}.`)
  }
}

/** The elements of a name in another. */
export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  )
}
