import { isoMonth, monthsBetween } from '#src/lib/month.ts'
import type { Check, Found, ReleaseFacts } from './facts.ts'

/** No season is forecast earlier than so many months ahead. */
const FARTHEST_MONTHS = 18

/** A month that answers everybody too early, or that hardly anybody will ask for. */
export const month: Check<ReleaseFacts> = ({ series: { forecastPeriod } }, { today, newestMonth }) => {
  if (forecastPeriod === null) return []
  const found = (sentence: string, figures: Found['figures']): Found[] => [
    { check: 'month', level: 'error', sentence, figures },
  ]
  const ahead = monthsBetween(today.toISOString(), forecastPeriod)
  const own = isoMonth(forecastPeriod)
  if (ahead > FARTHEST_MONTHS) {
    return found(
      `The month ${own} is ${ahead} months ahead, more than ${FARTHEST_MONTHS}: as the newest month it would answer everybody who names none.`,
      { month: own, monthsAhead: ahead },
    )
  }
  if (newestMonth !== null && newestMonth > forecastPeriod) {
    const newest = isoMonth(newestMonth)
    return found(
      `The month ${own} is older than ${newest}, which is published: only who asks for ${own} would get these values.`,
      { month: own, newestPublished: newest },
    )
  }
  return []
}
