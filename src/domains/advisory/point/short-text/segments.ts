/** The characters of the GSM 7-bit default alphabet (3GPP TS 23.038, 6.2.1), without the escape. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)

/** Those of its extension table (6.2.1.1), which take two places. */
const EXTENDED = new Set('\f^{}\\[~]|€')

/** How much a message holds that is one, and each segment of one that is several (3GPP TS 23.040, 9.2.3.24.1). */
const ROOM = {
  gsm7: { alone: 160, ofSeveral: 153 },
  ucs2: { alone: 70, ofSeveral: 67 },
} as const

/** The places that the characters of a text take, one after the other, and how many a segment has. */
function placesOf(text: string): { places: number[]; room: { alone: number; ofSeveral: number } } {
  const characters = [...text]
  if (characters.every((character) => BASIC.has(character) || EXTENDED.has(character))) {
    return { places: characters.map((character) => (EXTENDED.has(character) ? 2 : 1)), room: ROOM.gsm7 }
  }
  // A character beyond the 16 bits of UCS-2 is sent as two.
  return { places: characters.map((character) => character.length), room: ROOM.ucs2 }
}

/**
 * How many segments a text message takes: by the GSM 7-bit alphabet where all of its characters are in it, else by
 * UCS-2. What takes two places is not divided between segments.
 */
export function segmentsOf(text: string): number {
  const { places, room } = placesOf(text)
  const total = places.reduce((sum, one) => sum + one, 0)
  if (total <= room.alone) return 1
  let [segments, used] = [1, 0]
  for (const one of places) {
    if (used + one > room.ofSeveral) {
      segments++
      used = 0
    }
    used += one
  }
  return segments
}
