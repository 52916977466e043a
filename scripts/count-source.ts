/** Prints how much there is to read in `src` and `schemas`; test/architecture.test.ts has the budgets. */
import { sourceFigures } from '#test/source-figures.ts'

console.table(sourceFigures())
