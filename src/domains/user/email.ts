/** An address as it is stored and shown: without the space around it, in the composed form of Unicode. */
export function storedEmail(email: string): string {
  return email.trim().normalize('NFC')
}

/**
 * What two addresses have in common that differ in case alone. Upper case comes first because it joins
 * letters that have two lower forms, such as the two sigmas. It joins some that are of different people, too, such as `ß` and
 * `ss`: of two such addresses one may have an account, and what is confirmed or granted to one is not to the other.
 */
export function emailKey(email: string): string {
  return storedEmail(email).toUpperCase().toLowerCase().normalize('NFC')
}
