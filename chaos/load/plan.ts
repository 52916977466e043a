/** What is asked, by what it is about. */
export const EVERYTHING = [
  'point',
  'point from the database',
  'kept point',
  'batch',
  'polygon',
  'catalog',
  'history',
  'feedback',
  'deletion',
  'login',
  'refresh',
  'registration',
  'key',
  'pack',
  'map',
  'saved fields',
] as const

export type What = (typeof EVERYTHING)[number]

/** A request whose answer is known. */
export interface Known {
  path: string
  method: 'GET' | 'POST'
  body?: string
  /** The right answers, as a service that nothing happened to gave them, by the release that they are of. */
  answers: Record<string, string>
}

export interface Account {
  email: string
  password: string
  access_token: string
  refresh_token: string
  key: string
}

/** What the process of the load is told. */
export interface Plan {
  port: number
  /** Other processes of the service, which are asked by turns with that. */
  otherPorts?: number[]
  account: Account
  /** Who logs in again and again: of the sessions of an account the oldest end, which are not to be those of `account`. */
  visitor: Pick<Account, 'email' | 'password'>
  known: Record<'point' | 'point from the database' | 'batch' | 'polygon' | 'catalog', Known[]>
  /** What a point with a token is asked with, beside its name. */
  keptPoint: { path: string; body: object; answers: Record<string, string> }
  /** Codes of districts, where packs, maps and saved fields are asked for too; their answers may take longer than others. */
  districts?: string[]
}

/** A request, and what came of it. */
export interface Asked {
  what: What
  /** Milliseconds since 1970. */
  at: number
  ms: number
  /** 0 where there was no answer. */
  status: number
  retryAfter: boolean
  /** Whether the service answered, and not what is in front of it. */
  byService: boolean
  /** The release that a right answer is of. */
  release?: string
  /** What is wrong with the answer. */
  wrong?: string
}

/** What the service has acknowledged, and has to keep to. */
export interface Ledger {
  /** The names of points with a key, each of which is asked for under one name until it is answered. */
  named: string[]
  /** Kept points: their names by the ids that were answered. */
  kept: [id: string, name: string][]
  /** Ids of those whose deletion was acknowledged, and of those whose deletion was asked for. */
  deleted: string[]
  deleting: string[]
  /** The ratings that were acknowledged, by the ids of kept points. */
  rated: [id: string, rating: number][]
  registered: { email: string; password: string }[]
  keys: { id: string; key: string }[]
  endedKeys: string[]
}

/** What the process of the load answers with in the end. */
export interface Heard {
  asked: Asked[]
  ledger: Ledger
}
