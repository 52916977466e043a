/**
 * What was being read has been deleted or replaced since it was found: something else has taken its place.
 * Whoever reads begins anew.
 */
export class ReplacedMeanwhile extends Error {
  override name = 'ReplacedMeanwhile'

  constructor() {
    super('what was being read has been replaced')
  }
}
