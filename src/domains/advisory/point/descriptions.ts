/** The rest of the rules stands once, at the tag. */
export const POST_RULES = `

Parameters stand in the body, the query or both; the body wins. The tag \`advisory\` has the rules.`

export const GET_RULES =
  'Answers as POST does, from the query, for clients and proxies that cache. The tag `advisory` has the rules.'
