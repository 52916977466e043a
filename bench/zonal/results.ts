/** The ways that are compared. */
export const METHODS = ['exact', 'centres', 'st_clip', 'service'] as const
export type Method = (typeof METHODS)[number]

/** What came of polygons of one size. */
export interface SizeResult {
  name: string
  polygons: number
  /** The pixels of which any part lies inside, the median. */
  pixels: number
  methods: MethodResult[]
}

/** How far off a method is from the exact computation, and how long it takes. */
export interface MethodResult {
  method: Method
  /** The part of the polygons with values for which it finds none. */
  missed: number
  /** Relative errors of the mean, of what it finds: the median, and what 95 of 100 stay below. */
  meanError: number
  meanError95: number
  /** The same of the total: the mean times the covered area; what is not found is off by all of it. */
  totalError: number
  totalError95: number
  /** Milliseconds a polygon, the median. */
  ms: number
}

export interface ZonalResults {
  at: string
  machine: string
  data: string
  sizes: SizeResult[]
}
