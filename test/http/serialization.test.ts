import { AjvCompiler } from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { expect, test } from 'vitest'
import { compileOnce } from '#src/http/server.ts'

const route = (schema: object) => ({ method: 'GET', url: '/', httpStatus: '200', schema })
const holding = (type: string) => ({ type: 'object', properties: { held: { type } } })

test('what writes answers is compiled once for each schema, when it first writes', () => {
  const build = compileOnce(SerializerSelector())
  const compile = build({}, {})
  const write = compile(route(holding('string')))
  expect(write({ held: 1 })).toBe('{"held":"1"}')
  expect(compile(route(holding('string')))).toBe(write)
  expect(build({}, {})(route(holding('string')))).toBe(write)
  expect(compile(route(holding('integer')))({ held: 1 })).toBe('{"held":1}')
})

test('a schema that refers to others is another one where those are others', () => {
  const build = compileOnce(SerializerSelector())
  const referring = route({ $ref: 'Shared#' })
  const write = (shared: object) =>
    build({ Shared: { $id: 'Shared', ...shared } }, {})(referring)({ held: 1 })
  expect(write(holding('string'))).toBe('{"held":"1"}')
  expect(write(holding('integer'))).toBe('{"held":1}')
})

test('a compiler is given the schemas that one refers to, those that these refer to, and no others', () => {
  const referTo = (...refs: string[]) => ({ anyOf: refs.map(($ref) => ({ $ref })) })
  const all = {
    First: { $id: 'First', ...referTo('#/definitions/one', 'Second#/properties/held') },
    Second: { $id: 'Second', properties: { held: referTo('First#') } },
    Third: { $id: 'Third', ...holding('string') },
  }
  const given: object[] = []
  const build = compileOnce((shared: object) => (route: object) => {
    given.push(shared, route)
    return () => true
  })
  const compile = build(all)
  const [referring, other] = [compile(route(referTo('First#'))), compile(route(holding('string')))]
  expect(given).toEqual([])
  for (const run of [referring, other, referring]) run()
  const { First, Second } = all
  expect(given).toEqual([{ First, Second }, route(referTo('First#')), {}, route(holding('string'))])
})

test('requests are judged by the schemas of their own server, where another has others of the same name', () => {
  const build = compileOnce(AjvCompiler())
  const judge = (type: string) =>
    build(
      { Shared: { $id: 'Shared', ...holding(type) } },
      { customOptions: { coerceTypes: false } },
    )({
      ...{ method: 'POST', url: '/', httpPart: 'body' },
      schema: { $ref: 'Shared#' },
    })
  const [flags, lists] = [judge('boolean'), judge('array')]
  expect([flags({ held: true }), flags({ held: [] })]).toEqual([true, false])
  expect([lists({ held: true }), lists({ held: [] })]).toEqual([false, true])
})
