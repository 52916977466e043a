import { AdvisoryError, errorOf } from './errors.js';
import { groupsOf, linesOf } from './ndjson.js';
import { sleep, waitBefore } from './retries.js';
/** What an item may say of the rest, where the service could not go on: it stands at the end, in the place of the rest. */
const FAULTS = new Set(['OVERLOADED', 'DATABASE_UNAVAILABLE']);
/** What an item says where its place was not read. */
const REFUSALS = new Set(['INVALID_PARAMETERS', 'INVALID_GEOMETRY', 'MALFORMED_JSON']);
function allRefused(items) {
    const [{ error, code, details }] = items;
    const said = `All ${items.length} places are refused. The first one: ${error}`;
    return new AdvisoryError(said, { code, status: 400, ...(details && { details }) });
}
/** A point whose coordinates are numbers, also where they are text; text that is none is left to the service. */
function withNumbers(point) {
    const read = (value) => typeof value === 'string' && /^[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?$/i.test(value.trim())
        ? Number(value.trim().replace(',', '.'))
        : value;
    const { lat, lng } = point;
    return {
        ...point,
        ...(lat !== undefined && { lat: read(lat) }),
        ...(lng !== undefined && { lng: read(lng) }),
    };
}
/**
 * The answers for any number of places, in their order: one call after the other, each only when its first answer is asked for.
 * Where an answer is cut off, those that are missing are asked for again.
 *
 * @throws {AdvisoryError} where a call is refused, all places of the first one are, or one is cut off without getting on
 */
export async function* answersTo(sent, batch) {
    /** Undefined as soon as one is accepted. */
    let refused = [];
    for await (const texts of groupsOf(textsOf(sent), batch)) {
        let left = texts;
        let attempt = 0;
        while (left.length > 0) {
            const { items, stopped } = answersOf(batch, left);
            let answered = 0;
            for await (const item of items) {
                answered++;
                if (refused && REFUSALS.has(String(item.code))) {
                    refused.push(item);
                    continue;
                }
                yield* refused ?? [];
                refused = undefined;
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
        if (refused && refused.length > 0)
            throw allRefused(refused);
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
        yield JSON.stringify(withNumbers(one));
}
