/**
 * The lines of a body, each as soon as it is there. Nothing is read before it is asked for; who stops early ends the call.
 * A last line without its end was cut off, and is none.
 */
export declare function linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void>;
/** Texts in groups of so many, and so many bytes: one that is larger comes alone. Groups are made as they are asked for. */
export declare function groupsOf(texts: AsyncIterable<string>, { count, bytes }: {
    count: number;
    bytes: number;
}): AsyncGenerator<string[], void, void>;
