import { Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '#src/errors.ts'
import { EXIT, ExitWith } from '../exit.ts'
import { undoneByInterrupt } from '../interrupt.ts'
import { JSON_OPTION, say, withExamples } from '../output.ts'
import { isInteractive } from '../terminal.ts'
import { ask } from './calls.ts'
import { type Stage, terminalStage } from './stage.ts'
import { type Story, tell } from './story.ts'

interface TourOptions {
  url?: string
  account?: boolean
  wait: boolean
  json?: boolean
}

export const tourCommand = new Command('tour')
  .description('Show the main calls and their answers, in five minutes.')
  .option('--url <url>', 'ask a running service instead of a new one', readOrigin)
  .option('--account', 'with --url: create an account there, and delete it at the end')
  .option('--no-wait', 'continue without Enter')
  .option(...JSON_OPTION)
  .addHelpText(
    'after',
    `
Without --url it starts a service of its own with synthetic demo data, on an embedded database in a temporary
folder, and throws both away at the end: no setting counts, and nothing of yours is touched. It ends with 1 where
a service answers otherwise than it tells, such as one with data of other countries.`,
  )
  .action((options: TourOptions) =>
    undoneByInterrupt(async (signal) => {
      if (options.account && !options.url) say('note', '--account is for --url: the tour has one of its own.')
      const waits = options.wait && !options.json && isInteractive() && Boolean(process.stdout.isTTY)
      const stage = terminalStage({ waits, isJson: Boolean(options.json), signal })
      const story = options.url
        ? await askAt(options.url, Boolean(options.account), stage, signal)
        : await askOwn(stage, signal)
      const isLeftOut = options.url !== undefined && !options.account
      conclude(story, stage, isLeftOut)
    }),
  )
withExamples(
  tourCommand,
  'agro tour',
  'agro tour --url http://127.0.0.1:3000 --account',
  'agro tour --no-wait | less',
)

async function askOwn(stage: Stage, signal: AbortSignal): Promise<Story> {
  // All of the service: `agro --help` does not wait for it.
  const { withOwnService } = await import('./own-service.ts')
  return withOwnService((origin) => tell({ origin, hasAccount: true, stage, signal }), {
    say: (message) => console.error(message),
    signal,
  })
}

async function askAt(origin: string, hasAccount: boolean, stage: Stage, signal: AbortSignal): Promise<Story> {
  const { json } = await ask(
    origin,
    { method: 'GET', path: '/', headers: { accept: 'application/json' } },
    signal,
  )
  if (json === null || typeof json !== 'object' || !('catalog' in json)) {
    throw new OperatorError(`${origin} answers, but it is not this service: look at its port and its path.`)
  }
  return tell({ origin, hasAccount, stage, signal })
}

/**
 * @param isLeftOut whether what takes an account was not asked
 * @throws {ExitWith} where an answer was another one than the tour tells
 */
function conclude({ told, otherwise, isWhole }: Story, stage: Stage, isLeftOut: boolean): void {
  const account = 'Fields, districts and histories take an account: with --account the tour makes one there.'
  const surprise = `${otherwise} of ${told} calls were answered otherwise than the tour tells.`
  if (isWhole) stage.end([...(isLeftOut ? [account] : []), ...(otherwise > 0 ? [surprise] : [])])
  if (otherwise > 0) throw new ExitWith(EXIT.refused)
}

/** The address of a service, without the slash at its end. */
function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new InvalidArgumentError('It must be the address of a service, such as http://127.0.0.1:3000.')
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
