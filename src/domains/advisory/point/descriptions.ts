/** What the history keeps of a call, and other preferences. */
export const RECORDED = `

With a valid token the answer is kept in the caller's history, and has the \`history_id\` that feedback is given to; with \`Prefer: history=none\`, or a key without the scope \`history\`, nothing of the call is kept. A token that has expired or is wrong, and a key without the scope \`advisory\`, is no error: the answer is the one to anybody, and says so in \`WWW-Authenticate\`.

\`Prefer: server-timing\` asks for a \`Server-Timing\` header: the milliseconds that finding the release and the values took, and all since the request arrived.`

export const POST_RULES = `

Send the parameters as a JSON body, as query parameters, or both: they are merged field by field, and the body wins.`

export const GET_RULES = `

The same as POST with its parameters in the query, for clients and proxies that keep answers: for a minute without asking, and then by \`If-None-Match\` for as long as the release is the same. With a valid token nothing but the caller's history keeps the answer.`
