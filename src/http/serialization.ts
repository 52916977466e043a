import buildSerializers, {
  type RouteDefinition,
  type Serializer,
} from '@fastify/fast-json-stringify-compiler'

/**
 * Compiles what writes answers, once for each schema: most routes answer errors by the same few. Fastify would have those of
 * every route compiled anew, which took more than a second of a start.
 */
export function serializersOncePerSchema(): ReturnType<typeof buildSerializers> {
  const build = buildSerializers()
  /** By the schemas that others refer to, then by their own. */
  const kept = new Map<string, Map<string, Serializer>>()
  return (sharedSchemas, options) => {
    const compile = build(sharedSchemas, options)
    const shared = JSON.stringify(sharedSchemas)
    const serializers = kept.get(shared) ?? new Map<string, Serializer>()
    kept.set(shared, serializers)
    return (route: RouteDefinition) => {
      const schema = JSON.stringify(route.schema)
      const serializer = serializers.get(schema) ?? compile(route)
      serializers.set(schema, serializer)
      return serializer
    }
  }
}
