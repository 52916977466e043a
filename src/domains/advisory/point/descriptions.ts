/** What the history keeps of a call, and other preferences. */
export const RECORDED = `

With a valid token the answer is kept in the caller's history, and has the \`history_id\` that feedback is given to; with \`Prefer: history=none\`, or a key without the scope \`history\`, nothing of the call is kept. A token that has expired or is wrong, and a key without the scope \`advisory\`, is no error: the answer is the one to anybody, and says so in \`WWW-Authenticate\`.

\`Prefer: server-timing\` asks for a \`Server-Timing\` header: the milliseconds that finding the release and the values took, and all since the request arrived.`

export const POST_RULES = `

Send the parameters as a JSON body, as query parameters, or both: they are merged field by field, and the body wins.`

export const GET_RULES = `

The same as POST with its parameters in the query, for clients and proxies that keep answers: for a minute without asking, and then by \`If-None-Match\` for as long as the release is the same. With a valid token nothing but the caller's history keeps the answer.`

export const MORE_FORMS = `

**Quantities.** With \`area\`, \`bags\`, \`prices\`, \`budget\`, \`produce_price\`, \`scenario_weights\` or \`nutrients\` each entry of a rate or a yield also has its \`quantity\`: what it comes to on the area, in whole bags and in money; and the answer has \`quantities\`: the least, the most and the expected over the scenarios, and the share of the rates that a budget pays for. The rules of the API (\`/docs/rules\`) say how it is computed and rounded. Nothing else of the answer changes.

**As a text message.** With \`Accept: text/plain\` the answer is one text message, or \`max_segments\` segments of it, in the language of \`Accept-Language\` as far as there are texts in it. What does not fit is left out: the name of the place first, then scenarios, products and entries, the least important first. That there is no value (404) is said as text as well; all other errors are JSON.`
