/** What is told of an incident. */
export interface IncidentLine {
  incident: string
  state: 'begins' | 'goes on' | 'is over'
  /** For how long it has been going on; in the end, for how long it went on. */
  seconds: number
  /** How often what has failed: since the line before, and in the end in all. The first line has one. */
  failures: Record<string, number>
}

/** Tells of what may fail thousands of times in a second for one reason: when that begins, now and then, and its end. */
export interface Incidents {
  /**
   * Counts a failure.
   *
   * @param incident what it fails because of
   * @param failure what has failed, such as the name of an operation and its status
   * @returns whether the incident begins with it, of which nobody has been told
   */
  begins(incident: string, failure: string): boolean
  /** Tells that all incidents are over. */
  close(): void
}

interface Incident {
  began: number
  latest: number
  told: number
  failures: Map<string, number>
  untold: Map<string, number>
}

/** So many are told apart, of incidents and of failures in each: what else comes is counted as one. */
const MOST = 100
const OTHER = 'other'

const TOLD_EVERY_MS = 60_000
/** What has not failed again for so long is over. */
const QUIET_MS = 30_000
const LOOK_EVERY_MS = 10_000

/** @param tell is told that an incident goes on, once a minute, and that it is over */
export function createIncidents(tell: (line: IncidentLine) => void): Incidents {
  const incidents = new Map<string, Incident>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const now = performance.now()
    for (const [name, incident] of incidents) {
      if (now - incident.latest >= QUIET_MS) end(name, incident)
      else if (now - incident.told >= TOLD_EVERY_MS) goOn(name, incident, now)
    }
    if (incidents.size === 0) stop()
  }

  function goOn(name: string, incident: Incident, now: number): void {
    tell(lineOf(name, 'goes on', now - incident.began, incident.untold))
    incident.untold.clear()
    incident.told = now
  }

  function end(name: string, { began, latest, failures }: Incident): void {
    incidents.delete(name)
    tell(lineOf(name, 'is over', latest - began, failures))
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    begins(wanted, failure) {
      const now = performance.now()
      const name = incidents.has(wanted) || incidents.size < MOST ? wanted : OTHER
      const known = incidents.get(name)
      const incident = known ?? { began: now, latest: now, told: now, failures: new Map(), untold: new Map() }
      incident.latest = now
      countOne(incident.failures, failure)
      if (known) countOne(incident.untold, failure)
      else incidents.set(name, incident)
      timer ??= setInterval(look, LOOK_EVERY_MS).unref()
      return known === undefined
    },
    close() {
      stop()
      for (const [name, incident] of incidents) end(name, incident)
    },
  }
}

function countOne(counts: Map<string, number>, name: string): void {
  const counted = counts.has(name) || counts.size < MOST ? name : OTHER
  counts.set(counted, (counts.get(counted) ?? 0) + 1)
}

function lineOf(
  incident: string,
  state: IncidentLine['state'],
  milliseconds: number,
  failures: Map<string, number>,
): IncidentLine {
  return { incident, state, seconds: Math.round(milliseconds / 1000), failures: Object.fromEntries(failures) }
}
