/** The characters of the GSM 7-bit default alphabet (3GPP TS 23.038, 6.2.1), without the escape. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'

/** Those of its extension table (6.2.1.1), which take two places. */
const EXTENDED = /[\f^{}\\[~\]|€]/g

/** Septets or characters of a single message, and of each segment of several (3GPP TS 23.040, 9.2.3.24.1). */
const ROOM = {
  gsm7: { alone: 160, ofSeveral: 153 },
  ucs2: { alone: 70, ofSeveral: 67 },
} as const

/** Stands for a character that takes two places, and takes two itself. */
const ESCAPED = '\u{10000}'

const NOT_BASIC = new RegExp(`[^${BASIC.replace('-', '\\-')}]`)

/** Whether the GSM 7-bit alphabet has all characters of a text. */
export function isInGsm7(text: string): boolean {
  return !NOT_BASIC.test(text.replaceAll(EXTENDED, ''))
}

/** The segments of a message, in the GSM 7-bit alphabet or else in UCS-2. Segments do not divide a character. */
export function countSegments(text: string): number {
  const isBasic = isInGsm7(text)
  const { alone, ofSeveral } = isBasic ? ROOM.gsm7 : ROOM.ucs2
  const written = isBasic ? text.replaceAll(EXTENDED, ESCAPED) : text
  // A character beyond the 16 bits of UCS-2 is sent as two, as JavaScript stores it.
  if (written.length <= alone) return 1
  let [segments, used] = [1, 0]
  for (const { length } of written) {
    if (used + length > ofSeveral) {
      segments++
      used = 0
    }
    used += length
  }
  return segments
}
