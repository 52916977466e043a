import { AdvisoryError, errorOf } from './errors.js';
import { groupsOf, linesOf } from './ndjson.js';
import { sleep, waitBefore } from './retries.js';
/** What an item may say of the rest, where the service could not go on: it stands at the end, in the place of the rest. */
const FAULTS = new Set(['OVERLOADED', 'DATABASE_UNAVAILABLE']);
/**
 * The answers for any number of places, in their order: one call after the other, each only when its first answer is asked for.
 * Where an answer is cut off, those that are missing are asked for again.
 *
 * @throws {AdvisoryError} where a call is refused, or is cut off without getting on
 */
export async function* answersTo(sent, batch) {
    for await (const texts of groupsOf(textsOf(sent), batch)) {
        let left = texts;
        let attempt = 0;
        while (left.length > 0) {
            const { items, stopped } = answersOf(batch, left);
            let answered = 0;
            for await (const item of items) {
                answered++;
                yield item;
            }
            left = left.slice(answered);
            if (left.length === 0)
                break;
            attempt = answered > 0 ? 1 : attempt + 1;
            if (attempt > batch.retries)
                throw incomplete(stopped());
            await sleep(Math.min(waitBefore(attempt), batch.maxWaitMs), batch.signal);
        }
    }
}
/** The answers of one call as far as they come, and then why there are no more. */
export function answersOf({ ask, signal }, texts) {
    let reason;
    async function* read() {
        const response = await ask(texts);
        if (!response.ok || !response.body)
            throw await errorOf(response);
        const lines = linesOf(response.body);
        let doubtful;
        try {
            for (;;) {
                const line = await lines.next().catch((cause) => {
                    signal?.throwIfAborted();
                    reason = cause;
                    return { done: true, value: undefined };
                });
                if (line.done)
                    break;
                if (doubtful !== undefined)
                    yield JSON.parse(doubtful);
                doubtful = undefined;
                if (isFault(line.value))
                    doubtful = line.value;
                else
                    yield JSON.parse(line.value);
            }
            if (doubtful !== undefined)
                reason = JSON.parse(doubtful).error;
        }
        finally {
            await lines.return();
        }
    }
    return { items: read(), stopped: () => reason };
}
export function incomplete(cause) {
    const said = typeof cause === 'string' ? ` ${cause}` : '';
    return new AdvisoryError(`The answer was cut off.${said}`, { code: 'INCOMPLETE_ANSWER', cause });
}
/** Whether a line may stand for the rest of an answer: it does so where it is the last one. */
function isFault(line) {
    if (!line.includes('"code"'))
        return false;
    const { id, code } = JSON.parse(line);
    return id === undefined && typeof code === 'string' && FAULTS.has(code);
}
async function* textsOf(sent) {
    for await (const one of sent)
        yield JSON.stringify(one);
}
