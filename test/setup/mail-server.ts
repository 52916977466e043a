import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  headers: string
  text: string
  /** Whether it came through TLS. */
  secure: boolean
}

/** A mail server of this process, spoken to over TCP. */
export interface MailServer {
  /** For SMTP_URL: it offers STARTTLS with a certificate that nobody has signed, which the URL allows. */
  url: string
  port: number
  /** What has arrived and was accepted, in order. */
  mails: ReceivedMail[]
  /** How many were offered, refused ones included. */
  offered(): number
  /** The next mail that nobody has waited for yet. */
  next(): Promise<ReceivedMail>
  /** Answers with this code instead of taking mails; 250 takes them. */
  answer: number
  close(): Promise<void>
}

/** A key, and a certificate of it that nobody but itself has signed. */
const KEY_AND_CERTIFICATE = readFileSync(new URL('../fixtures/mail-server.pem', import.meta.url))

export async function startMailServer(): Promise<MailServer> {
  const waiting: ((mail: ReceivedMail) => void)[] = []
  let offered = 0
  let seen = 0
  const server = new SMTPServer({
    authOptional: true,
    key: KEY_AND_CERTIFICATE,
    cert: KEY_AND_CERTIFICATE,
    async onData(stream, session, callback) {
      const raw = await text(stream)
      offered++
      // A server may repeat what it did not like.
      if (mailServer.answer !== 250) {
        return callback(
          Object.assign(new Error(`refused: ${raw.slice(-200)}`), { responseCode: mailServer.answer }),
        )
      }
      const { mailFrom, rcptTo } = session.envelope
      const mail = {
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        ...contentOf(raw),
        secure: session.secure,
      }
      mailServer.mails.push(mail)
      if (waiting.length > 0) {
        seen++
        waiting.shift()?.(mail)
      }
      callback()
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const mailServer: MailServer = {
    url: `smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`,
    port,
    mails: [],
    offered: () => offered,
    next() {
      const mail = mailServer.mails[seen]
      if (mail) {
        seen++
        return Promise.resolve(mail)
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    answer: 250,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
  return mailServer
}

/** The headers as they came, and the text without its transfer encoding. */
function contentOf(raw: string): { headers: string; text: string } {
  const [headers = '', ...rest] = raw.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n').replaceAll('\r\n', '\n')
  if (!/^content-transfer-encoding: quoted-printable$/im.test(headers)) return { headers, text: body }
  const bytes = body
    .replaceAll('=\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return { headers, text: Buffer.from(bytes, 'latin1').toString('utf8') }
}
