import type { Party } from './fair-line.ts'

export interface ByteRoomLimits {
  /** So many bytes are held at the same time, */
  bytes: number
  /** of them so many for one network, */
  bytesEachNetwork: number
  /** and so many for one caller, from wherever it asks. Nobody may wish to hold more at once. */
  bytesEach: number
  /** So many more wait. */
  waiting: number
}

/** What somebody holds of a room. */
export interface Place {
  /** So many bytes. */
  readonly bytes: number
  /** Gives back what is held beyond so many bytes. */
  shrinkTo(bytes: number): void
  /** Takes what is missing to so many bytes, at once; false where there is no room for it, or the place was left. */
  growTo(bytes: number): boolean
  /** Gives all of it back, for good. */
  leave(): void
}

/** Bounds what is held in memory by all together, and by each of them, so that nobody can take all of it. */
export interface ByteRoom {
  /**
   * Waits for room: whoever holds least comes first.
   *
   * @param signal ends the waiting, with its reason
   * @throws what the room refuses with, where too many wait: the network with most waiting loses the newest
   */
  enter(party: Party, bytes: number, signal: AbortSignal): Promise<Place>
  /**
   * Whether what another holds keeps somebody from so many bytes: where a share is full, that of the same caller or
   * network, and else that of the network that holds most.
   */
  isInTheWay(other: Party, party: Party, bytes: number): boolean
}

interface Waiting {
  party: Party
  bytes: number
  enter(): void
  refuse(error: unknown): void
}

/** @param refusal makes what is refused with where too many wait */
export function createByteRoom(limits: ByteRoomLimits, refusal: () => Error): ByteRoom {
  const held = createHoldings(limits)
  const waiting: Waiting[] = []

  function remove(one: Waiting): void {
    waiting.splice(waiting.indexOf(one), 1)
  }

  function letIn(): void {
    for (;;) {
      const next = held.leastOf(waiting.filter(({ party, bytes }) => held.isWithinShare(party, bytes)))
      // Shorter ones do not overtake it: it might wait for ever.
      if (!next || !held.isRoomFor(next.bytes)) return
      remove(next)
      next.enter()
    }
  }

  return {
    enter(party, bytes, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) throw signal.reason
        const leave = () => {
          remove(one)
          reject(signal.reason)
          letIn()
        }
        const one: Waiting = {
          party,
          bytes,
          enter() {
            signal.removeEventListener('abort', leave)
            held.add(party, bytes)
            resolve(createPlace(party, bytes, held, letIn))
          },
          refuse(error) {
            signal.removeEventListener('abort', leave)
            reject(error)
          },
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.push(one)
        letIn()
        if (waiting.length <= limits.waiting) return
        const refused = newestOfMost(waiting)
        remove(refused)
        refused.refuse(refusal())
      })
    },
    isInTheWay: held.isInTheWay,
  }
}

/**
 * @param bytes that are held already
 * @param letIn lets others in where something is given back
 */
function createPlace(party: Party, bytes: number, held: Holdings, letIn: () => void): Place {
  let own = bytes
  let left = false
  const change = (by: number) => {
    own += by
    held.add(party, by)
  }
  return {
    get bytes() {
      return own
    },
    shrinkTo(wanted) {
      if (wanted >= own) return
      change(wanted - own)
      letIn()
    },
    growTo(wanted) {
      if (left) return false
      const more = wanted - own
      if (more <= 0) return true
      if (!held.isWithinShare(party, more) || !held.isRoomFor(more)) return false
      change(more)
      return true
    },
    leave() {
      left = true
      change(-own)
      letIn()
    },
  }
}

type Holdings = ReturnType<typeof createHoldings>

/** Who holds how many bytes. */
function createHoldings({ bytes: most, bytesEachNetwork, bytesEach }: ByteRoomLimits) {
  const ofNetworks = new Map<string, number>()
  const ofCallers = new Map<string, number>()
  let total = 0
  const inNetwork = ({ network }: Party) => ofNetworks.get(network) ?? 0
  const ofCaller = ({ caller }: Party) => ofCallers.get(caller) ?? 0
  const fitsCaller = (party: Party, bytes: number) => ofCaller(party) + bytes <= bytesEach
  const fitsNetwork = (party: Party, bytes: number) => inNetwork(party) + bytes <= bytesEachNetwork
  return {
    add(party: Party, bytes: number): void {
      total += bytes
      addTo(ofNetworks, party.network, bytes)
      addTo(ofCallers, party.caller, bytes)
    },
    isRoomFor: (bytes: number) => total + bytes <= most,
    isWithinShare: (party: Party, bytes: number) => fitsCaller(party, bytes) && fitsNetwork(party, bytes),
    isInTheWay(other: Party, party: Party, bytes: number): boolean {
      if (!fitsCaller(party, bytes)) return other.caller === party.caller
      if (!fitsNetwork(party, bytes)) return other.network === party.network
      return inNetwork(other) === Math.max(...ofNetworks.values())
    },
    /** Whose network holds least, and within it who does; the first of several. */
    leastOf(all: readonly Waiting[]): Waiting | undefined {
      const before = (a: Party, b: Party) => inNetwork(a) - inNetwork(b) || ofCaller(a) - ofCaller(b)
      return all.reduce<Waiting | undefined>(
        (least, one) => (least && before(least.party, one.party) <= 0 ? least : one),
        undefined,
      )
    },
  }
}

function addTo(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes
  if (sum > 0) sums.set(key, sum)
  else sums.delete(key)
}

/** The newest of the network that has most waiting; of several networks, of the one whose newest came last. */
function newestOfMost(waiting: readonly Waiting[]): Waiting {
  const counts = new Map<string, number>()
  for (const { party } of waiting) addTo(counts, party.network, 1)
  const most = Math.max(...counts.values())
  return waiting.findLast(({ party }) => counts.get(party.network) === most) as Waiting
}
