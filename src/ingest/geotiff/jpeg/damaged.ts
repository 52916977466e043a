/** What a JPEG stream that breaks its rules ends with. */
export function damaged(): Error {
  return new Error('its JPEG data are damaged')
}
