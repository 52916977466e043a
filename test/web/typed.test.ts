import { describe, expect, test } from 'vitest'
import { readTypedNumber } from '../../web/parts/typed.ts'

describe('a number that is typed into a form', () => {
  test.each([
    ['2', 2],
    ['2.5', 2.5],
    ['2,5', 2.5],
    [' 0,125 ', 0.125],
    ['.5', 0.5],
    ['5,', 5],
    ['1 200,5', 1200.5],
    ['1\u00a0200.5', 1200.5],
    ['1\u202f200', 1200],
    ['1,200.5', 1200.5],
    ['1.200,5', 1200.5],
    ['1,200,300', 1_200_300],
    ['12 345 678', 12_345_678],
    ['007', 7],
  ])('"%s" is %d, whether large or small', (text, number) => {
    expect([readTypedNumber(text, true), readTypedNumber(text, false)]).toEqual([number, number])
  })

  test.each([['1,200'], ['1.200'], ['25,500']])('"%s" is of thousands where it is large', (text) => {
    const digits = Number(text.replace(/\D/g, ''))
    expect([readTypedNumber(text, true), readTypedNumber(text, false)]).toEqual([digits, digits / 1000])
  })

  test.each([
    [''],
    [' '],
    ['abc'],
    ['-3'],
    ['+3'],
    ['1e3'],
    ['2 5'],
    ['1,20,300'],
    ['1.200.5'],
    ['1,2.5'],
    ['12 34,5'],
    ['1,,5'],
    ['.'],
    ['2 ha'],
  ])('"%s" is none', (text) => {
    expect([readTypedNumber(text, true), readTypedNumber(text, false)]).toEqual([undefined, undefined])
  })
})
