/** An address as it is stored and shown: without the space around it, in the composed form of Unicode. */
export function storedEmail(email: string): string {
  return email.trim().normalize('NFC')
}

/**
 * What two addresses have in common that differ in case alone. Upper case comes first because it joins
 * letters that have two lower forms, such as the two sigmas.
 */
export function emailKey(email: string): string {
  return storedEmail(email).toUpperCase().toLowerCase().normalize('NFC')
}
