let templates = 0

/** The common text of answers of a release. */
export class AnswerTemplate {
  readonly id = templates++
  /** The texts around the lines of a filling. */
  readonly pieces: string[]
  /** Of an answer without its filling. */
  readonly bytes: number

  constructor(pieces: string[]) {
    this.pieces = pieces
    const lineEnds = pieces.length - 2
    this.bytes = Buffer.byteLength(pieces.join('')) - lineEnds
  }
}

/** The body of an answer, made of a template. */
export class TemplatedAnswer {
  /** The body without its last bracket. */
  readonly open: string
  readonly template: AnswerTemplate
  /** A line of JSON between two pieces each. */
  readonly filling: string

  constructor(open: string, template: AnswerTemplate, filling: string) {
    this.open = open
    this.template = template
    this.filling = filling
  }

  get bytes(): number {
    return this.template.bytes + Buffer.byteLength(this.filling)
  }
}
