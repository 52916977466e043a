/** The rest of the rules stands once, at the tag. */
export const POST_RULES = `

Send the parameters in the body, in the query, or in both; the body wins. The tag \`advisory\` has the rules.`

export const GET_RULES = `

Takes the parameters of POST in the query, for clients and proxies that cache answers. The tag \`advisory\` has the rules.`
