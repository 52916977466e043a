/**
 * Starts the service with its channels of messages and Kannel in front of it, with fresh secrets, on this machine alone. A line
 * that is typed is a message of a phone, and what comes back is printed. Ctrl-C stops all of it. DATABASE_URL names a
 * database; without it, one is made for the run, with demo data.
 */
import { createInterface } from 'node:readline'
import { temporaryFolder, withCleanup } from '#bench/cleanup.ts'
import { startService, type Where } from '#bench/service.ts'
import { createSecrets, findMissing, startKannel } from './kannel.ts'

/** Who writes a line that names no number. */
const USUAL_NUMBER = '+251911000001'

const missing = findMissing()
if (missing.length > 0) {
  console.error(`Kannel is not there; root installs it by: apt-get install ${missing.join(' ')}`)
  process.exit(1)
}

await withCleanup(async (cleanup) => {
  const { DATABASE_URL, PORT = '0' } = process.env
  const folder = temporaryFolder(cleanup, 'messages')
  const where: Where = DATABASE_URL ? { DATABASE_URL } : { DATA_DIR: `${folder}/data` }
  const secrets = createSecrets()
  const settings = { ...secrets, ...(!DATABASE_URL && { DEMO_DATA: 'true' }), LOG_LEVEL: 'warn', PORT }
  console.log('Starting the service; the demo takes half a minute.')
  const service = await startService(cleanup, where, settings)
  const url = `http://127.0.0.1:${service.port}`
  const kannel = await startKannel(
    cleanup,
    { folder, service: url, secret: secrets.SMS_SECRET },
    (to, text) => console.log(`to ${to}: ${text}`),
  )
  console.log(`
The service answers at ${url}; ${folder} has the files of Kannel.
  USSD       ${url}/messages/ussd?secret=${secrets.USSD_SECRET}
  Telegram   ${url}/messages/telegram, with the secret_token ${secrets.TELEGRAM_SECRET}
Type a message, such as WHEAT FICHE, or with a number: ${USUAL_NUMBER} HELP. Ctrl-C stops all of it.
`)
  createInterface(process.stdin).on('line', (line) => {
    const [, from = USUAL_NUMBER, text = ''] = /^(\+\d+ )?(.*)$/.exec(line) ?? []
    try {
      if (text.trim() !== '') kannel.send(from.trim(), text)
    } catch (error) {
      console.error((error as Error).message)
    }
  })
  await service.ended
})
