import { userInfo } from 'node:os'

/** Who runs this program, as the operating system says; a number where it has no name, as in many containers. */
export function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
