/** Who wants something done. What comes from one network has one turn among the networks, whoever asks there. */
export interface Party {
  network: string
  /** Who asks within the network, such as the id of a user. */
  caller: string
}

/** Whose work it is where nobody has to be told from others. */
export const EVERYBODY: Party = { network: '', caller: '' }

/**
 * Whose work it is where many may ask for the same, and where it has a place meanwhile that others wait for: one at the
 * database, or the only one there is. In the line of whoever asked first it would wait behind all else that they have
 * waiting, and others for the place. All that is named so has a turn together, as a network has.
 */
export function sharedWork(name: string): Party {
  return { ...EVERYBODY, caller: name }
}

/** A party, and what of it is next. */
export interface Turn<Item> {
  party: Party
  item: Item
}

/** What waits, by those whom it is for. Networks take turns, and within each of them its callers: one item each. */
export interface FairLine<Item> {
  /** How many items wait. */
  size(): number
  add(party: Party, item: Item): void
  /**
   * Takes the item whose turn it is.
   *
   * @param may whether an item may go now; of each caller only the first one is asked about
   */
  take(may?: (item: Item, party: Party) => boolean): Turn<Item> | undefined
  /** Takes an item out of the line of its party; false where it is not there any more. */
  remove(party: Party, item: Item): boolean
  /** Takes the newest item of whoever has most: of the network, and within it of the caller. */
  takeNewestOfMost(): Item | undefined
}

interface Caller<Item> {
  items: Item[]
  weight: number
}

interface Network<Item> {
  callers: Map<string, Caller<Item>>
  weight: number
}

/**
 * Makes an empty line.
 *
 * @param weightOf what counts where it matters who has most: by default how many items
 */
export function createFairLine<Item>(weightOf: (item: Item) => number = () => 1): FairLine<Item> {
  // Whoever has had a turn goes to the end: a map keeps the order in which keys were set.
  const networks = new Map<string, Network<Item>>()
  let size = 0

  function add(party: Party, item: Item): void {
    let network = networks.get(party.network)
    if (!network) {
      network = { callers: new Map(), weight: 0 }
      networks.set(party.network, network)
    }
    let caller = network.callers.get(party.caller)
    if (!caller) {
      caller = { items: [], weight: 0 }
      network.callers.set(party.caller, caller)
    }
    const weight = weightOf(item)
    caller.items.push(item)
    caller.weight += weight
    network.weight += weight
    size++
  }

  function remove(party: Party, item: Item): boolean {
    const network = networks.get(party.network)
    const caller = network?.callers.get(party.caller)
    const at = caller?.items.indexOf(item) ?? -1
    if (!network || !caller || at === -1) return false
    const weight = weightOf(item)
    caller.items.splice(at, 1)
    caller.weight -= weight
    network.weight -= weight
    size--
    if (caller.items.length === 0) network.callers.delete(party.caller)
    if (network.callers.size === 0) networks.delete(party.network)
    return true
  }

  function next(may: (item: Item, party: Party) => boolean): Turn<Item> | undefined {
    for (const [network, { callers }] of networks) {
      for (const [caller, { items }] of callers) {
        const party = { network, caller }
        const item = items[0] as Item
        if (may(item, party)) return { party, item }
      }
    }
    return undefined
  }

  return {
    size: () => size,
    add,
    take(may = () => true) {
      const turn = next(may)
      if (!turn) return undefined
      const { party, item } = turn
      remove(party, item)
      toTheEnd(networks, party.network)
      const network = networks.get(party.network)
      if (network) toTheEnd(network.callers, party.caller)
      return turn
    },
    remove,
    takeNewestOfMost() {
      const most = heaviest(networks)
      if (!most) return undefined
      const [network, { callers }] = most
      // Whoever has nothing waiting is not in the line.
      const [caller, { items }] = heaviest(callers) as [string, Caller<Item>]
      const item = items.at(-1) as Item
      remove({ network, caller }, item)
      return item
    },
  }
}

/** Moves a key to the end of the order, where it is still there, and others are. */
function toTheEnd<Value>(map: Map<string, Value>, key: string): void {
  if (map.size < 2) return
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}

function heaviest<Value extends { weight: number }>(map: Map<string, Value>): [string, Value] | undefined {
  let found: [string, Value] | undefined
  for (const entry of map) {
    // Among equals the one that came last: it has waited least.
    if (!found || entry[1].weight >= found[1].weight) found = entry
  }
  return found
}
