/**
 * The lines of a body, each as soon as it is there. Nothing is read before it is asked for; who stops early ends the call.
 * A last line without its end was cut off, and is none.
 */
export async function* linesOf(body) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    try {
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
            const lines = (rest + decoder.decode(read.value, { stream: true })).split('\n');
            rest = lines.pop() ?? '';
            yield* lines;
        }
    }
    finally {
        // What is broken already cannot be ended.
        await reader.cancel().catch(() => undefined);
    }
}
/** Texts in groups of so many, and so many bytes: one that is larger comes alone. Groups are made as they are asked for. */
export async function* groupsOf(texts, { count, bytes }) {
    const encoder = new TextEncoder();
    let group = [];
    let size = 0;
    for await (const text of texts) {
        const length = encoder.encode(text).length + 1;
        if (group.length === count || (group.length > 0 && size + length > bytes)) {
            yield group;
            group = [];
            size = 0;
        }
        group.push(text);
        size += length;
    }
    if (group.length > 0)
        yield group;
}
