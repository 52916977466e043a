import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { styleText } from 'node:util'
import { type Answer, type Call, curlOf } from './calls.ts'
import { shownAnswer, wrapped } from './shown.ts'

/** One call of the tour, as it is told. */
export interface Scene {
  number: number
  of: number
  title: string
  origin: string
  call: Call
  status: number
  meaning: string
}

/** Where a tour is told. */
export interface Stage {
  /** @param calls how many there will be */
  begin(origin: string, calls: number): void
  /** Before the call is made. */
  announce(scene: Scene): void
  show(scene: Scene, answer: Answer, isAsTold: boolean): void
  /** Waits until somebody wants to see the answer; false where nobody does. */
  goesOn(): Promise<boolean>
  end(notes: string[]): void
}

/** What is told; the waiting is the same for all. */
type Telling = Omit<Stage, 'goesOn'>

export interface StageOptions {
  /** Whether somebody is there to press Enter. */
  waits: boolean
  isJson: boolean
  signal: AbortSignal
}

/** Text of a line that is longer is hard to read, and of one that is shorter as well. */
const WIDTHS = { narrowest: 40, widest: 100, unknown: 80 }

export function terminalStage({ waits, isJson, signal }: StageOptions): Stage {
  // Whoever reads the first lines alone (`| head`) has closed the pipe.
  const goesOn = async () => !process.stdout.errored && (!waits || (await enterPressed(signal)))
  return isJson ? { ...jsonStage(), goesOn } : { ...textStage(), goesOn }
}

function textStage(): Telling {
  const { stdout } = process
  const { NO_COLOR, TERM } = process.env
  const isColoured = Boolean(stdout.isTTY && !NO_COLOR && TERM !== 'dumb')
  const styled = (style: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(style, text) : text
  // Asked each time: a window may have another size by now.
  const width = () => Math.min(Math.max(stdout.columns ?? WIDTHS.unknown, WIDTHS.narrowest), WIDTHS.widest)
  const tellAll = (texts: string[]) => console.log(texts.map((text) => wrapped(text, width())).join('\n'))
  return {
    begin(origin, calls) {
      tellAll([
        `A tour of ${calls} calls. The service is at ${origin}: each call can be copied into another terminal.`,
      ])
    },
    announce({ number, of, title, origin, call }) {
      console.log(`\n${styled('bold', `${number} of ${of}: ${title}`)}\n`)
      console.log(`${styled('cyan', curlOf(origin, call))}\n`)
    },
    show({ meaning, status }, answer, isAsTold) {
      console.log(`${shownAnswer(answer, width())}\n`)
      const surprise = `The tour expects ${status} here. This service may have other data, countries or rules.`
      tellAll([isAsTold ? meaning : surprise])
    },
    end(notes) {
      const closing =
        'That was the tour. The page at /docs has every operation to try, and docs/guide/integrators.md leads from here on.'
      console.log('')
      tellAll([...notes, closing])
    },
  }
}

/** For programs: everything at once, with the answers whole. */
function jsonStage(): Telling {
  const calls: object[] = []
  return {
    begin() {},
    announce() {},
    show({ title, origin, call: { method, path, body }, meaning }, { status, json, text }, isAsTold) {
      calls.push({
        title,
        method,
        url: origin + path,
        body,
        status,
        as_told: isAsTold,
        answer: json ?? text,
        meaning,
      })
    },
    end(notes) {
      console.log(JSON.stringify({ calls, notes }, null, 2))
    },
  }
}

/** Waits for Enter; false where `q` was typed, or nothing can be typed any more. */
async function enterPressed(signal: AbortSignal): Promise<boolean> {
  process.stderr.write('Enter asks, q ends. ')
  // The terminal shows what is typed and makes a signal of Ctrl-C: so nothing of it is done here.
  const lines = createInterface({ input: process.stdin, terminal: false })
  try {
    const closed = once(lines, 'close', { signal }).then(() => ['q'])
    const [line] = await Promise.race([once(lines, 'line', { signal }), closed])
    return !/^q/i.test(String(line).trim())
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    lines.close()
  }
}
