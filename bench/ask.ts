import { randomUUID } from 'node:crypto'

/** An answer as it came. */
export interface Answer {
  status: number
  body: string
  release: string | null
}

/** Sends one POST request with a JSON body. */
export async function ask(
  port: number,
  path: string,
  body: unknown,
  token?: string,
  accept = 'application/json',
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    // fetch would ask for compressed answers.
    headers: {
      'content-type': 'application/json',
      accept,
      'accept-encoding': 'identity',
      // Errors repeat it: those of two services are the same then.
      'x-request-id': 'bench',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  const release = response.headers.get('advisory-release')
  return { status: response.status, body: await response.text(), release }
}

const AT_A_TIME = 32

/** Asks for each of some points, some at a time; the answers come in the order of the points. */
export async function askEach(port: number, path: string, points: object[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let from = 0; from < points.length; from += AT_A_TIME) {
    const some = points.slice(from, from + AT_A_TIME)
    answers.push(...(await Promise.all(some.map((point) => ask(port, path, point)))))
  }
  return answers
}

export interface Account {
  email: string
  password: string
}

/** Makes an account. */
export async function register(port: number): Promise<Account> {
  const account = { email: `${randomUUID()}@example.org`, password: randomUUID() }
  const { status, body } = await ask(port, '/auth/register', { ...account, name: 'Bench' })
  if (status !== 201) throw new Error(`the account was answered ${status} ${body}`)
  return account
}

/** Gives an access token of an account, of a new one where none is named. */
export async function logIn(port: number, account?: Account): Promise<string> {
  const { status, body } = await ask(port, '/auth/login', account ?? (await register(port)))
  if (status !== 200) throw new Error(`the login was answered ${status} ${body}`)
  return JSON.parse(body).access_token
}

/** Makes a key with an access token, that of a new account where none is given. */
export async function makeKey(port: number, token?: string): Promise<string> {
  const { status, body } = await ask(port, '/auth/keys', { name: 'Bench' }, token ?? (await logIn(port)))
  if (status !== 201) throw new Error(`the key was answered ${status} ${body}`)
  return JSON.parse(body).key
}
