import { expect, test } from 'vitest'
import { canonicalize } from '#src/extensions/signatures/canonical.ts'

test.each([
  // RFC 8785, section 3.2.2 and 3.2.3.
  [
    String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  ],
  [
    String.raw`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}`,
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  ],
  // As ECMAScript writes numbers.
  [
    '[1e21, 123456789012345680000, -0, 1e-7, 0.000001, 0.1, 1.0, 5e-324]',
    '[1e+21,123456789012345680000,0,1e-7,0.000001,0.1,1,5e-324]',
  ],
  // As texts, not as numbers: codes of conditions.
  ['{"2": {"b": 1, "a": []}, "10": {}}', '{"10":{},"2":{"a":[],"b":1}}'],
])('%s has one text', (text, canonical) => {
  expect(canonicalize(JSON.parse(text))).toBe(canonical)
})
