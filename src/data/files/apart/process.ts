import { formatError } from '#src/lib/promises.ts'
import { FileMissing, type ListedFile, openFolder } from '../store.ts'
import type { Answers, Question, StoreAnswer } from './store.ts'

/** The process of a folder: answers questions, and ends with its parent. */

/** Files of a list that are sent at once. */
const PAGE = 100

const files = openFolder(process.argv[2] as string)
let listing: AsyncIterator<ListedFile> | undefined

async function answerTo(question: Question): Promise<Answers[keyof Answers]> {
  switch (question.ask) {
    case 'read':
      return files.read(question.name, question.offset, question.length)
    case 'canWrite':
      return files.canWrite()
    case 'list':
      listing = files.list()[Symbol.asyncIterator]()
      return null
    case 'next':
      return nextPage()
  }
}

async function nextPage(): Promise<ListedFile[]> {
  const page: ListedFile[] = []
  while (listing && page.length < PAGE) {
    const { done, value } = await listing.next()
    if (done) listing = undefined
    else page.push(value)
  }
  return page
}

process.on('message', async ({ id, ...question }: Question & { id: number }) => {
  const answer: StoreAnswer = await answerTo(question).then(
    (value) => ({ id, answer: value }),
    (error) => ({ id, failure: { isMissing: error instanceof FileMissing, message: formatError(error) } }),
  )
  process.send?.(answer)
})
process.on('disconnect', () => process.exit())
