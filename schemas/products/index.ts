import { defineProducts } from './define.ts'
import { fertilizer } from './fertilizer.ts'
import { forage } from './forage.ts'
import { isfm } from './isfm.ts'
import { yieldPrediction } from './yield.ts'

export const PRODUCTS = defineProducts([yieldPrediction, fertilizer, isfm, forage])
