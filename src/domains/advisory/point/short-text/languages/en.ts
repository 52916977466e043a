import type { Messages } from './messages.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export const ENGLISH: Messages = {
  language: 'en',
  number: String,
  products: { yield: 'Yield', fertilizer: 'Fertilizer', isfm: 'Organic inputs', forage: 'Forage' },
  scenarios: {},
  month(month) {
    const [year, number] = month.split('-')
    return `${MONTHS[Number(number) - 1]} ${year}`
  },
  head: (parts) => `${parts.join(' ')}:`,
  area: (value, unit) => `for ${value} ${unit}`,
  bags: (count) => `${count} ${count === '1' ? 'bag' : 'bags'}`,
  synthetic: 'Demo data, not advice.',
  stale: 'Last season.',
  more: '...',
  tooLong: 'The answer does not fit into a message.',
  reasons: {
    NO_DATA: 'There is no value for this place.',
    OUTSIDE_COUNTRY: 'There is no value: the place lies outside the country.',
    NO_RELEASE: 'Nothing is published for this yet.',
  },
}
