declare module 'fs-native-extensions' {
  /** Requests an exclusive lock on an open file; false when another open file holds it. */
  export function tryLock(fd: number): boolean
}
