import { spawn } from 'node:child_process'
import type { Cleanup } from '#bench/cleanup.ts'
import { stopProcess } from '#bench/processes.ts'
import { ask, type Client } from '../client.ts'
import type { Noticed, Plan, Planned, Victim } from './plan.ts'

/** The victims, each of which asks at its own pace. */
export interface Victims {
  /** Lets some of them ask for some seconds. */
  ask(port: number, who: Victim[], seconds: number): Promise<Record<Victim, Noticed>>
}

const POINT = { lat: 9.5, lng: 38.5 }

/** What each of them asks, and how often: seldom enough to be no load. */
function plannedFor({ email, password, token }: Client, key: string): Record<Victim, Planned> {
  const json = { 'content-type': 'application/json' }
  const post = { method: 'POST', headers: json }
  return {
    point: {
      ...post,
      victim: 'point',
      everyMs: 20,
      path: '/advisory/yield/point',
      body: JSON.stringify(POINT),
    },
    'kept point': {
      ...post,
      victim: 'kept point',
      everyMs: 50,
      path: '/advisory/yield/point',
      headers: { ...json, authorization: `Bearer ${key}` },
      body: JSON.stringify(POINT),
    },
    batch: {
      ...post,
      victim: 'batch',
      everyMs: 400,
      path: '/advisory/yield/points',
      headers: { ...json, authorization: `Bearer ${key}` },
      body: JSON.stringify({ points: Array.from({ length: 5000 }, (_, id) => ({ id, ...POINT })) }),
    },
    history: {
      victim: 'history',
      everyMs: 100,
      method: 'GET',
      path: '/history/my?limit=5',
      headers: { authorization: `Bearer ${token}` },
      body: undefined,
    },
    login: {
      ...post,
      victim: 'login',
      everyMs: 500,
      path: '/auth/login',
      body: JSON.stringify({ email, password }),
    },
  }
}

/** Starts the process of the victims, who have an account and a key. */
export async function startVictims(cleanup: Cleanup, account: Client): Promise<Victims> {
  const made = await ask(account, { path: '/auth/keys', body: '{"name":"victim"}' })
  if (made.status !== 201) throw new Error(`the key was answered ${made.status} ${made.body}`)
  const planned = plannedFor(account, JSON.parse(made.body).key)
  const child = spawn(process.execPath, ['bin/run.mjs', 'abuse/victims/process.ts'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  })
  cleanup.add(() => stopProcess(child))
  return {
    ask: (port, who, seconds) =>
      new Promise((resolve, reject) => {
        const ended = () => reject(new Error('the victims ended'))
        child.once('exit', ended)
        child.once('message', (noticed: Record<Victim, Noticed>) => {
          child.off('exit', ended)
          resolve(noticed)
        })
        child.send({ port, seconds, requests: who.map((victim) => planned[victim]) } satisfies Plan)
      }),
  }
}
