// Written by `npm run gen` from openapi.yaml: change the routes, not this.

export interface paths {
  "/advisory/yield/point": {
    /** Predicted yield at a point, by GET */
    get: operations["getYieldAtPoint"];
    /** Predicted yield at a point */
    post: operations["yieldAtPoint"];
  };
  "/advisory/fertilizer/point": {
    /** Fertilizer rates at a point, by GET */
    get: operations["getFertilizerAtPoint"];
    /** Fertilizer rates at a point */
    post: operations["fertilizerAtPoint"];
  };
  "/advisory/isfm/point": {
    /** Organic inputs (ISFM) at a point, by GET */
    get: operations["getIsfmAtPoint"];
    /** Organic inputs (ISFM) at a point */
    post: operations["isfmAtPoint"];
  };
  "/advisory/forage/point": {
    /** Forage suitability at a point, by GET */
    get: operations["getForageAtPoint"];
    /** Forage suitability at a point */
    post: operations["forageAtPoint"];
  };
  "/advisory/point": {
    /** Everything for a point, by GET */
    get: operations["getEverythingAtPoint"];
    /** Everything for a point */
    post: operations["everythingAtPoint"];
  };
  "/advisory/yield/points": { /** Predicted yields at many points */ post: operations["yieldAtPoints"]; };
  "/advisory/fertilizer/points": {
    /** Fertilizer rates at many points */
    post: operations["fertilizerAtPoints"];
  };
  "/advisory/isfm/points": { /** Organic inputs (ISFM) at many points */ post: operations["isfmAtPoints"]; };
  "/advisory/forage/points": { /** Forage suitability at many points */ post: operations["forageAtPoints"]; };
  "/advisory/yield": {
    /** Predicted yield for a place by its name */
    get: operations["getYieldAtPlace"];
    /** Predicted yield in a polygon */
    post: operations["yieldInPolygon"];
  };
  "/advisory/fertilizer": {
    /** Fertilizer rates for a place by its name */
    get: operations["getFertilizerAtPlace"];
    /** Fertilizer rates in a polygon */
    post: operations["fertilizerInPolygon"];
  };
  "/advisory/isfm": {
    /** Organic inputs (ISFM) for a place by its name */
    get: operations["getIsfmAtPlace"];
    /** Organic inputs (ISFM) in a polygon */
    post: operations["isfmInPolygon"];
  };
  "/advisory/forage": {
    /** Forage suitability for a place by its name */
    get: operations["getForageAtPlace"];
    /** Forage suitability in a polygon */
    post: operations["forageInPolygon"];
  };
  "/advisory/yield/polygons": {
    /** Predicted yields in many polygons */
    post: operations["yieldInPolygons"];
  };
  "/advisory/fertilizer/polygons": {
    /** Fertilizer rates in many polygons */
    post: operations["fertilizerInPolygons"];
  };
  "/advisory/isfm/polygons": {
    /** Organic inputs (ISFM) in many polygons */
    post: operations["isfmInPolygons"];
  };
  "/advisory/forage/polygons": {
    /** Forage suitability in many polygons */
    post: operations["forageInPolygons"];
  };
  "/advisory": { /** Everything for a place by its name */ get: operations["getEverythingAtPlace"]; };
  "/validate_location": {
    /** The country and areas of a point, and its products */
    post: operations["validateLocation"];
  };
  "/admin": { /** Administrative areas of a country */ get: operations["listAdminAreas"]; };
  "/places": { /** Find areas by name */ get: operations["searchPlaces"]; };
  "/catalog": { /** The catalog of offered and published data */ get: operations["getCatalog"]; };
  "/releases": { /** List releases, published and earlier */ get: operations["listReleases"]; };
  "/releases/{release}": { /** Get a release */ get: operations["getRelease"]; };
  "/releases/{release}/layers": { /** The layers of a release as maps */ get: operations["listLayers"]; };
  "/releases/{release}/layers/{layer}/tiles.json": {
    /** A layer of a release as a map */
    get: operations["getTileset"];
  };
  "/releases/{release}/layers/{layer}/tiles/{z}/{x}/{y}": {
    /** A tile of the map of a layer */
    get: operations["getTile"];
  };
  "/releases/{release}/layers/{layer}.tif": {
    /** A layer of a release as a GeoTIFF */
    get: operations["getGeotiff"];
  };
  "/stac": { /** The published data as a STAC catalog */ get: operations["getStacCatalog"]; };
  "/stac/collections/{collection}": {
    /** The releases of a product in a country, as a STAC collection */
    get: operations["getStacCollection"];
  };
  "/stac/collections/{collection}/items/{item}": {
    /** A release as a STAC item */
    get: operations["getStacItem"];
  };
  "/coverage": { /** Coverage of areas, with reasons for gaps */ get: operations["getCoverage"]; };
  "/releases/{a}/diff/{b}": { /** Compare two releases */ get: operations["compareReleases"]; };
  "/changes": { /** List changes of published data */ get: operations["listChanges"]; };
  "/packs/{country}/{area}.html": {
    /** An area in one file: a page that works without a network */
    get: operations["getPackPage"];
  };
  "/packs/{country}/{area}.csv": {
    /** An area in one file: CSV, also for ODK */
    get: operations["getPackTable"];
  };
  "/packs/{country}/{area}.parquet": {
    /** An area in one file: GeoParquet */
    get: operations["getPackParquet"];
  };
  "/packs/{country}/{area}.mbtiles": {
    /** An area in one file: a map as MBTiles */
    get: operations["getPackTiles"];
  };
  "/releases/{release}/statement": {
    /** Get the signed statement of a release */
    get: operations["getReleaseStatement"];
  };
  "/.well-known/jwks.json": { /** Get the keys that sign releases */ get: operations["getSigningKeys"]; };
  "/releases/{code}/scorecard": {
    /** Compare predictions with observations */
    get: operations["getScorecard"];
  };
  "/subscriptions": {
    /** List your subscriptions */
    get: operations["listSubscriptions"];
    /** Subscribe to changes at a place */
    post: operations["createSubscription"];
  };
  "/subscriptions/{id}": {
    /** Get a subscription */
    get: operations["getSubscription"];
    /** Delete a subscription */
    delete: operations["deleteSubscription"];
  };
  "/subscriptions/{id}/enable": {
    /** Enable a subscription again */
    post: operations["enableSubscription"];
  };
  "/subscriptions/{id}/secret": {
    /** Renew the secret of a subscription */
    post: operations["renewSubscriptionSecret"];
  };
  "/subscriptions/{id}/test": {
    /** Send a test message to a subscriber */
    post: operations["testSubscription"];
  };
  "/fields/{collection}": {
    /** Get a collection of fields */
    get: operations["getFields"];
    /** Keep a collection of fields */
    put: operations["putFields"];
    /** Delete a collection of fields */
    delete: operations["deleteFields"];
  };
  "/fields/{collection}/advice": {
    /** Advice on all fields of a collection */
    get: operations["getAdviceOnFields"];
  };
  "/fields/{collection}/changes": {
    /** Fields whose advice has changed */
    get: operations["getFieldChanges"];
  };
  "/fields": { /** List your collections of fields */ get: operations["listFieldCollections"]; };
  "/history/my": { /** List your history */ get: operations["listHistory"]; };
  "/history/{id}": {
    /** Get an item of your history */
    get: operations["getHistoryItem"];
    /** Delete an item of your history */
    delete: operations["deleteHistoryItem"];
  };
  "/history/{id}/feedback": { /** Give feedback on an advisory */ post: operations["giveFeedback"]; };
  "/stats": { /** Usage statistics */ get: operations["getStats"]; };
  "/stats/calls": { /** The slowest recent calls */ get: operations["listSlowCalls"]; };
  "/history/{id}/share": {
    /** Get the address of a shared item */
    get: operations["getShare"];
    /** Share an item of your history */
    post: operations["shareHistoryItem"];
    /** Stop sharing an item */
    delete: operations["unshareHistoryItem"];
  };
  "/cite/{id}": { /** Get a shared advisory */ get: operations["getCitation"]; };
  "/": { /** Links to the documentation and the catalog */ get: operations["getServiceLinks"]; };
  "/health/live": { /** Liveness of the process */ get: operations["getLiveness"]; };
  "/health/ready": { /** Readiness for requests */ get: operations["getReadiness"]; };
  "/user/profile": {
    /** Get your account */
    get: operations["getProfile"];
    /** Delete your account */
    delete: operations["deleteProfile"];
    /** Change your account */
    patch: operations["changeProfile"];
  };
  "/auth/register": { /** Create an account */ post: operations["register"]; };
  "/auth/login": { /** Log in with e-mail and password */ post: operations["login"]; };
  "/auth/refresh": { /** Refresh the tokens */ post: operations["refresh"]; };
  "/auth/password": { /** Change the password */ post: operations["changePassword"]; };
  "/auth/reauthenticate": { /** Confirm the password again */ post: operations["reauthenticate"]; };
  "/auth/logout": { /** End the session */ post: operations["logout"]; };
  "/auth/sessions": {
    /** List your sessions */
    get: operations["listSessions"];
    /** End all other sessions */
    delete: operations["endOtherSessions"];
  };
  "/auth/sessions/{id}": { /** End a session */ delete: operations["endSession"]; };
  "/auth/password/forgot": {
    /** Request a mail to reset the password */
    post: operations["forgotPassword"];
  };
  "/auth/confirm/resend": {
    /** Request another confirmation mail */
    post: operations["resendConfirmation"];
  };
  "/auth/password/reset": { /** Choose a new password with a token */ post: operations["resetPassword"]; };
  "/auth/confirm": { /** Confirm the e-mail with a token */ post: operations["confirmEmail"]; };
  "/auth/keys": {
    /** List your keys */
    get: operations["listKeys"];
    /** Create a key for a server */
    post: operations["createKey"];
  };
  "/auth/keys/{id}": { /** Delete a key */ delete: operations["deleteKey"]; };
  "/auth/two-factor": {
    /** The state of the second factor */
    get: operations["getTwoFactor"];
    /** Begin to set up a second factor */
    post: operations["beginTwoFactor"];
  };
  "/auth/two-factor/confirm": {
    /** Turn the second factor on, with a code of the app */
    post: operations["confirmTwoFactor"];
  };
  "/auth/two-factor/disable": { /** Turn the second factor off */ post: operations["disableTwoFactor"]; };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description The error, for programs. Codes are stable; later versions may add some. */
    ErrorCode: "INVALID_PARAMETERS" | "MALFORMED_JSON" | "MALFORMED_BODY" | "MALFORMED_REQUEST" | "INVALID_GEOMETRY" | "CROP_NOT_AVAILABLE" | "UNKNOWN_COUNTRY" | "INVALID_TOKEN" | "UNAUTHORIZED" | "INVALID_CREDENTIALS" | "FORBIDDEN" | "INSUFFICIENT_SCOPE" | "LOGIN_REQUIRED" | "REAUTHENTICATION_REQUIRED" | "EMAIL_NOT_CONFIRMED" | "NOT_FOUND" | "MAIL_NOT_CONFIGURED" | "UNKNOWN_AREA" | "NO_AREAS" | "NO_RELEASE" | "OUTSIDE_COUNTRY" | "NO_DATA" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "RELEASE_GONE" | "REQUEST_TIMEOUT" | "EMAIL_TAKEN" | "REQUEST_IN_PROGRESS" | "TOO_MANY_KEYS" | "LIMIT_REACHED" | "BODY_TOO_LARGE" | "TOO_MANY_POINTS" | "TOO_MANY_POLYGONS" | "UNSUPPORTED_MEDIA_TYPE" | "IDEMPOTENCY_KEY_REUSED" | "TOO_MANY_REQUESTS" | "RATE_LIMITED" | "HEADERS_TOO_LARGE" | "INTERNAL" | "OVERLOADED" | "QUERY_TIMEOUT" | "DATABASE_UNAVAILABLE" | "DATABASE_READ_ONLY" | "RANGE_NOT_SATISFIABLE" | "TOO_MANY_SHARES" | "TOO_MANY_FIELDS" | "TWO_FACTOR_REQUIRED" | "INVALID_CODE" | "TWO_FACTOR_SETUP_REQUIRED" | "TWO_FACTOR_ON" | "TOO_MANY_SUBSCRIPTIONS";
    /** @description A mistake in a parameter; with a `code`, why a product has no value, or which limit. */
    ErrorDetail: {
      /** @description The parameter, as a dotted path; or the product. */
      field: string;
      message: string;
      /** @description The accepted values, where they can be listed. */
      allowed?: string[];
      code?: components["schemas"]["ErrorCode"];
    };
    /** @description The body of every answer that is not a success. */
    Error: {
      error: components["schemas"]["ErrorError"];
      code: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      did_you_mean?: {
        name: string;
        code: string;
        country_code: string;
        level: number;
        /** @description Null for a country. */
        within: string | null;
      }[];
      /** @description The `X-Request-Id` of the answer: with it the operator finds the request in the log. */
      request_id: string;
    };
    /** @description An account, as its owner sees it. */
    UserProfile: {
      /** Format: uuid */
      id: string;
      email: string;
      name: string;
      organisation: string | null;
      /** @description Whether the e-mail is confirmed (`POST /auth/confirm`); true where the service asks for no confirmation. */
      email_confirmed: boolean;
      /** @description The rights of the account. Only an operator changes them. */
      role: "user" | "admin";
      created_at: components["schemas"]["CreatedAt"];
    };
    /** @description Observations in the field. */
    Observed: {
      /** @description The harvest, in kg/ha. */
      yield_kg_ha?: number;
      /** @description Inorganic fertilizer applied, in kg/ha. */
      rate_kg_ha?: number;
      /** @description Organic input applied, in metric tons per hectare. */
      rate_tons_ha?: number;
      /** Format: date @description The date of the harvest, which is not in the future. */
      harvested_on?: string;
    };
    Feedback: {
      rating: components["schemas"]["Rating"];
      comment: string | null;
      observed: components["schemas"]["Observed"] | null;
      /** Format: date-time @description When it was first given. */
      created_at: string;
      /** Format: date-time @description When it was last replaced. */
      updated_at: string;
    };
    /** @description The condition of the field that the value is for. */
    EntryCondition: string;
    /** @description The administrative area that was asked about. */
    AdvisedArea: {
      country_code: string;
      level: components["schemas"]["Level"];
      code: components["schemas"]["Code"];
      name: string;
    };
    /** @description An administrative area. */
    AdminSelection: {
      country_code: components["schemas"]["AdminSelectionCountryCode"];
      /** @description The code of the area, as in `GET /admin`. */
      code: string;
      /** @description Its level, 0 for the country. Where it is left out, the highest that has the code. */
      level?: number | null;
    };
    /** @description A GeoJSON Polygon or MultiPolygon, a Feature of one, or a FeatureCollection of one Feature, in longitude and latitude (WGS 84). At most 10,000 vertices. Edges are straight in longitude and latitude. Heights are ignored. A `crs` of another system is refused. The service repairs nothing: it refuses a shape that is open, crosses itself, has no area or has holes outside, and names the place. */
    PolygonGeometry: components["schemas"]["Polygon"] | components["schemas"]["MultiPolygon"] | components["schemas"]["Feature"] | components["schemas"]["FeatureCollection"];
    /** @description Bags, prices and weights that turn rates into quantities. */
    QuantityParameters: {
      bags?: { [key: string]: number; } | null;
      prices?: {
        currency: components["schemas"]["Currency"];
        /** @description The price of a kilogram, by input. */
        per_kg?: { [key: string]: number; };
        /** @description The price of a bag in `bags`, by input. */
        per_bag?: { [key: string]: number; };
      } | null;
      /** @description The money for the inputs of one product, in the currency of `prices`. Refused where inputs of two products have prices. */
      budget?: number | null;
      produce_price?: { currency: components["schemas"]["Currency"]; per_kg: number; } | null;
      scenario_weights?: { [key: string]: number; } | null;
      nutrients?: boolean | null;
    };
    /** Format: binary @description An indexed PNG. */
    Picture: string;
    /** @description A GeoJSON Polygon. */
    Polygon: {
      type: "Polygon";
      /** @description The outer ring, then the holes. */
      coordinates: number[][][];
    };
    /** @description A GeoJSON MultiPolygon. */
    MultiPolygon: { type: "MultiPolygon"; coordinates: number[][][][]; };
    /** @description A GeoJSON Feature of a Polygon or a MultiPolygon. */
    Feature: {
      type: "Feature";
      /** @description The shape of the Feature. */
      geometry: components["schemas"]["Polygon"] | components["schemas"]["MultiPolygon"];
      /** @description Ignored, but for `name`. */
      properties?: { [key: string]: unknown; } | null;
    };
    /** @description A GeoJSON FeatureCollection of one Feature. */
    FeatureCollection: { type: "FeatureCollection"; features: components["schemas"]["Feature"][]; };
    /** @description A point and what to answer for. Fields that are not listed are ignored, and named in `ignored`. */
    PointRequest: {
      lat: components["schemas"]["Lat"];
      lng: components["schemas"]["Lng"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      name?: components["schemas"]["PointRequestName"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      provenance?: components["schemas"]["PointRequestProvenance"];
      skill?: components["schemas"]["PointRequestSkill"];
      area?: { value: components["schemas"]["Value"]; unit?: components["schemas"]["Unit"]; } | null;
      max_segments?: components["schemas"]["MaxSegments"];
    } & components["schemas"]["QuantityParameters"];
    /** @description A point. Forage needs no crop; fields that are not listed are ignored, and named in `ignored` where no other product has them. */
    ForagePointRequest: {
      lat: components["schemas"]["Lat"];
      lng: components["schemas"]["Lng"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      name?: components["schemas"]["PointRequestName"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      provenance?: components["schemas"]["PointRequestProvenance"];
      skill?: components["schemas"]["PointRequestSkill"];
      max_segments?: components["schemas"]["MaxSegments"];
    };
    Location: {
      /** @description The label of the request. */
      name: string;
      lat: number;
      lng: number;
      type: components["schemas"]["Type"];
    };
    /** @description A field or parameter that the operation does not know. */
    IgnoredName: {
      /** @description As it was sent; long ones are cut off. */
      name: string;
      /** @description The name that was probably meant. */
      did_you_mean?: string;
    };
    /** @description The place that a request has named. */
    AnsweredPlace: {
      asked: string;
      /** @description The name, or coordinates. */
      found: string;
      /** @description What it is. */
      kind: "area" | "position" | "field";
      /** @description Whether it is called otherwise, as with a usual spelling. */
      near: boolean;
      code?: string;
      country_code?: string;
      level?: number;
    };
    /** @description A layer that has a value in a pixel. */
    ProvenanceLayer: {
      /** @description Its number, as in `GET /releases/{release}/layers`. */
      layer: number;
      /** @description The input or species; null where the product has none. */
      input: string | null;
      scenario: components["schemas"]["ProvenanceLayerScenario"];
      condition?: components["schemas"]["EntryCondition"];
      role?: components["schemas"]["Role"];
      /** @description The number that is stored of the pixel, unrounded. The value is `raw` * `scale` + `offset`, rounded. */
      raw: number;
      scale: number;
      offset: number;
    };
    /** @description The pixel of a grid that the point lies in. */
    ProvenancePixel: {
      /** @description EPSG code of the CRS of the grid. */
      srid: number;
      /** @description Counted from 0, at the left. */
      column: number;
      /** @description Counted from 0, at the top. */
      row: number;
      /** @description The middle of the pixel. */
      centre: {
        /** @description In the CRS of the grid. */
        x: number;
        /** @description In the CRS of the grid. */
        y: number;
        lng: components["schemas"]["Lng"];
        lat: components["schemas"]["Lat"];
      };
      size: {
        /** @description Its width, in the unit of the CRS. */
        x: number;
        /** @description Its height. */
        y: number;
        unit: string;
      };
      layers: components["schemas"]["ProvenanceLayer"][];
    };
    /** @description Which pixels of a release were read for an answer, and whose they are. */
    Provenance: {
      release: string;
      /** @description The maker of its values. */
      source: string;
      licence: string;
      checksum: components["schemas"]["Checksum"];
      /** @description One for each grid that has a value at the point. */
      pixels: components["schemas"]["ProvenancePixel"][];
    };
    /** @description How well forecasts of the series have done: the value of the most likely scenario against observations of the area, or else of the country. Noise hides single ones. */
    Skill: {
      /** @description How many observations, 30 at least. */
      n: number;
      /** @description The mean of predicted minus observed, in the unit of values. */
      bias: number;
      /** @description The mean of the sizes of these differences. */
      mae: number;
      /** @description How many observations lay in the range, from 0 to 1. */
      within?: number;
      /** @description Ranked probability skill score of the odds: 1 is best, 0 as good as a third each. */
      rpss?: number;
      /** @description The area, the crop and the years. */
      of: string;
    };
    /** @description Kilograms of nutrients. */
    Nutrients: {
      /** @description Nitrogen. */
      N: number;
      /** @description Phosphorus, as phosphate. */
      P2O5: number;
      /** @description Potassium, as potash. */
      K2O: number;
      /** @description Sulphur. */
      S: number;
    };
    /** @description The amount on the area. */
    Quantity: {
      /** @description Kilograms, to the gram. */
      kg?: number;
      /** @description Tonnes, to the gram. */
      t?: number;
      /** @description Whole bags: as many as it takes. */
      bags?: number;
      /** @description The kilograms of a bag. */
      bag_kg?: number;
      /** @description The rest in the last bag, in kilograms. */
      rest_kg?: number;
      /** @description The cost, of whole bags where there are bags. To the hundredth, in `currency`. */
      cost?: number;
      return?: components["schemas"]["Return"];
      nutrients_kg?: components["schemas"]["Nutrients"];
    };
    /** @description Amounts on the area, where the request asks for quantities. */
    Quantities: {
      /** @description The area that the quantities are for. */
      area: {
        value: number;
        unit: components["schemas"]["Unit"];
        /** @description The same in hectares. */
        ha: number;
      };
      currency?: components["schemas"]["Currency"];
      scenarios?: {
        scenario: string | null;
        condition?: components["schemas"]["EntryCondition"];
        /** @description Kilograms, to the gram. */
        kg?: number;
        /** @description Tonnes, to the gram. */
        t?: number;
        cost?: components["schemas"]["Cost"];
        return?: components["schemas"]["Return"];
        /** @description The largest share of every rate that the budget pays for, rounded down to four decimals. */
        share?: number;
        /** @description The cost of that share. To the hundredth, in `currency`. */
        share_cost?: number;
      }[];
      /** @description The scenario with the least yield, or the least cost. */
      least?: {
        scenario: string | null;
        condition?: components["schemas"]["EntryCondition"];
        /** @description Kilograms, to the gram. */
        kg?: number;
        /** @description Tonnes, to the gram. */
        t?: number;
        cost?: components["schemas"]["Cost"];
        return?: components["schemas"]["Return"];
      };
      /** @description The scenario with the most. */
      most?: {
        scenario: string | null;
        condition?: components["schemas"]["EntryCondition"];
        /** @description Kilograms, to the gram. */
        kg?: number;
        /** @description Tonnes, to the gram. */
        t?: number;
        cost?: components["schemas"]["Cost"];
        return?: components["schemas"]["Return"];
      };
      /** @description The mean over scenarios: `scenario` has their weights. */
      expected?: {
        scenario: string;
        /** @description Kilograms, to the gram. */
        kg?: number;
        /** @description Tonnes, to the gram. */
        t?: number;
        cost?: components["schemas"]["Cost"];
        return?: components["schemas"]["Return"];
      };
      /** @description Inputs without a price: a scenario with them has no cost and no share. */
      unpriced?: string[];
    };
    /** @description What the answer would be, were the whole place under a condition. Alternatives do not add up. */
    Alternative: {
      condition: components["schemas"]["EntryCondition"];
      title: string;
      /** @description How much of the place has it, as the landscape raster has it. */
      share_percent?: number;
      /** @description One for each pair: its labels, and the value. */
      entries: { [key: string]: string | number; }[];
    };
    /** @description One for each condition: for an area of several, where the default answers, and with `condition=all`. */
    ByCondition: components["schemas"]["Alternative"][];
    /** @description The ends that the value lies between. */
    ValueRange: {
      /** @description In the unit of the value. */
      low: number;
      high: number;
      /** @description How probable that is, where the season is the scenario. */
      level: number;
    };
    /** @description Of the scenario at the place. In an area the mean. */
    Probability: number;
    /** @description Of `Dominant`: the scenario that it restates, where odds or values show it. */
    ScenarioOf: string;
    /** @description Where the condition comes from, where the request names none: the landscape raster of the release, which has several in an area, or the default of the release. */
    ConditionSource: "landscape layer" | "default";
    /** @description For people: sent where the default of the release answers. `condition` chooses another one. */
    ConditionQuestion: string;
    YieldEntry: {
      scenario: components["schemas"]["Scenario"];
      condition?: components["schemas"]["EntryCondition"];
      yield_kg_ha: components["schemas"]["YieldKgHa"];
      probability?: components["schemas"]["Probability"];
      range?: components["schemas"]["ValueRange"];
      scenario_of?: components["schemas"]["ScenarioOf"];
      quantity?: components["schemas"]["Quantity"];
    };
    /** @description The values of the three seasons, each times its probability, in sum. */
    YieldExpected: {
      scenario: string;
      condition?: components["schemas"]["EntryCondition"];
      yield_kg_ha: number;
    };
    FertilizerEntry: {
      fertilizer_type: components["schemas"]["FertilizerType"];
      scenario: components["schemas"]["Scenario"];
      condition?: components["schemas"]["EntryCondition"];
      rate_kg_ha: components["schemas"]["RateKgHa"];
      probability?: components["schemas"]["Probability"];
      range?: components["schemas"]["ValueRange"];
      scenario_of?: components["schemas"]["ScenarioOf"];
      quantity?: components["schemas"]["Quantity"];
    };
    /** @description The values of the three seasons, each times its probability, in sum. */
    FertilizerExpected: {
      fertilizer_type: string;
      scenario: string;
      condition?: components["schemas"]["EntryCondition"];
      rate_kg_ha: number;
    };
    IsfmEntry: {
      isfm_type: components["schemas"]["IsfmType"];
      scenario: components["schemas"]["Scenario"];
      condition?: components["schemas"]["EntryCondition"];
      rate_tons_ha: components["schemas"]["RateTonsHa"];
      probability?: components["schemas"]["Probability"];
      range?: components["schemas"]["ValueRange"];
      scenario_of?: components["schemas"]["ScenarioOf"];
      quantity?: components["schemas"]["Quantity"];
    };
    /** @description The values of the three seasons, each times its probability, in sum. */
    IsfmExpected: {
      isfm_type: string;
      scenario: string;
      condition?: components["schemas"]["EntryCondition"];
      rate_tons_ha: number;
    };
    ForageEntry: {
      /** @description The species. */
      forage_variety: string;
      condition?: components["schemas"]["EntryCondition"];
      suitability_score: components["schemas"]["SuitabilityScore"];
      range?: components["schemas"]["ValueRange"];
    };
    YieldResponse: {
      location: components["schemas"]["Location"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      forecast_period: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month: components["schemas"]["ForecastMonth"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      yield_data: components["schemas"]["YieldEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["YieldResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      provenance?: components["schemas"]["YieldResponseProvenance"];
      skill?: components["schemas"]["YieldResponseSkill"];
      quantities?: components["schemas"]["Quantities"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    FertilizerResponse: {
      location: components["schemas"]["Location"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      forecast_period: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month: components["schemas"]["ForecastMonth"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      fertilizer_data: components["schemas"]["FertilizerEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["Expected"];
      by_condition?: components["schemas"]["ByCondition"];
      provenance?: components["schemas"]["YieldResponseProvenance"];
      skill?: components["schemas"]["YieldResponseSkill"];
      quantities?: components["schemas"]["Quantities"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    IsfmResponse: {
      location: components["schemas"]["Location"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      forecast_period: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month: components["schemas"]["ForecastMonth"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      isfm_data: components["schemas"]["IsfmEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["IsfmResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      provenance?: components["schemas"]["YieldResponseProvenance"];
      skill?: components["schemas"]["YieldResponseSkill"];
      quantities?: components["schemas"]["Quantities"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    ForageResponse: {
      location: components["schemas"]["Location"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      forage_data: components["schemas"]["ForageEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      by_condition?: components["schemas"]["ByCondition"];
      provenance?: components["schemas"]["YieldResponseProvenance"];
      skill?: components["schemas"]["YieldResponseSkill"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    /** @description The answer of `POST /advisory/yield/point`, or `error` and `code`. For an area or a field, values are means. */
    YieldSection: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      yield_data: components["schemas"]["YieldData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["YieldResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      skill?: components["schemas"]["YieldResponseSkill"];
    };
    /** @description The answer of `POST /advisory/fertilizer/point`, or `error` and `code`. For an area or a field, values are means. */
    FertilizerSection: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      fertilizer_data: components["schemas"]["FertilizerData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["Expected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      skill?: components["schemas"]["YieldResponseSkill"];
    };
    /** @description The answer of `POST /advisory/isfm/point`, or `error` and `code`. For an area or a field, values are means. */
    IsfmSection: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      isfm_data: components["schemas"]["IsfmData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["IsfmResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      skill?: components["schemas"]["YieldResponseSkill"];
    };
    /** @description The answer of `POST /advisory/forage/point`, or `error` and `code`. For an area or a field, values are means. */
    ForageSection: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      forage_data: components["schemas"]["ForageData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      by_condition?: components["schemas"]["ByCondition"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      skill?: components["schemas"]["YieldResponseSkill"];
    };
    EverythingResponse: {
      location: components["schemas"]["Location"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      country_source?: components["schemas"]["CountrySource"];
      yield: components["schemas"]["YieldSection"];
      fertilizer: components["schemas"]["FertilizerSection"];
      isfm: components["schemas"]["IsfmSection"];
      forage: components["schemas"]["ForageSection"];
      provenance?: components["schemas"]["YieldResponseProvenance"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    /** @description One of many points. Fields that are not listed are ignored, unless `pass` names them. */
    BatchPoint: {
      id?: components["schemas"]["Id"];
      lat: components["schemas"]["Lat"];
      lng: components["schemas"]["Lng"];
      name?: components["schemas"]["PointRequestName"];
      condition?: components["schemas"]["Condition"];
    };
    /** @description Points, and what to answer for at all of them. */
    PointsRequest: {
      points: components["schemas"]["Points"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      pass?: components["schemas"]["Pass"];
      area?: {
        value?: components["schemas"]["Value"];
        /** @description Instead of `value`: the member, property or column that has the number of each point. */
        from?: string;
        unit?: components["schemas"]["Unit"];
      } | null;
    } & components["schemas"]["QuantityParameters"];
    /** @description Points, and the country to answer for at all of them. */
    ForagePointsRequest: {
      points: components["schemas"]["Points"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      pass?: components["schemas"]["Pass"];
    };
    /** @description The answer of `POST /advisory/yield/point` with the point's `id`. Without a value `yield_data` is null, with `error` and `code`; an invalid point has these and `sent`. */
    YieldItem: {
      id?: components["schemas"]["YieldItemId"];
      location?: components["schemas"]["Location"];
      sent?: components["schemas"]["Sent"];
      country_source?: components["schemas"]["CountrySource"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      yield_data?: components["schemas"]["YieldData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["YieldResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      pass?: components["schemas"]["YieldItemPass"];
    };
    /** @description The answer of `POST /advisory/fertilizer/point` with the point's `id`. Without a value `fertilizer_data` is null, with `error` and `code`; an invalid point has these and `sent`. */
    FertilizerItem: {
      id?: components["schemas"]["YieldItemId"];
      location?: components["schemas"]["Location"];
      sent?: components["schemas"]["Sent"];
      country_source?: components["schemas"]["CountrySource"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      fertilizer_data?: components["schemas"]["FertilizerData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["Expected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      pass?: components["schemas"]["YieldItemPass"];
    };
    /** @description The answer of `POST /advisory/isfm/point` with the point's `id`. Without a value `isfm_data` is null, with `error` and `code`; an invalid point has these and `sent`. */
    IsfmItem: {
      id?: components["schemas"]["YieldItemId"];
      location?: components["schemas"]["Location"];
      sent?: components["schemas"]["Sent"];
      country_source?: components["schemas"]["CountrySource"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      isfm_data?: components["schemas"]["IsfmData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["IsfmResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      pass?: components["schemas"]["YieldItemPass"];
    };
    /** @description The answer of `POST /advisory/forage/point` with the point's `id`. Without a value `forage_data` is null, with `error` and `code`; an invalid point has these and `sent`. */
    ForageItem: {
      id?: components["schemas"]["YieldItemId"];
      location?: components["schemas"]["Location"];
      sent?: components["schemas"]["Sent"];
      country_source?: components["schemas"]["CountrySource"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      forage_data?: components["schemas"]["ForageData"];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      by_condition?: components["schemas"]["ByCondition"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
      pass?: components["schemas"]["YieldItemPass"];
    };
    YieldPointsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each point, in their order. */
      items: components["schemas"]["YieldItem"][];
    };
    FertilizerPointsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each point, in their order. */
      items: components["schemas"]["FertilizerItem"][];
    };
    IsfmPointsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each point, in their order. */
      items: components["schemas"]["IsfmItem"][];
    };
    ForagePointsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each point, in their order. */
      items: components["schemas"]["ForageItem"][];
    };
    /** @description A polygon, an administrative area or a saved field, one of the three, and what to answer for. Fields that are not listed are ignored. */
    PolygonRequest: ({
      geometry: components["schemas"]["PolygonGeometry"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PolygonRequestCountryCode"];
      name?: components["schemas"]["Name"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      skill?: components["schemas"]["PointRequestSkill"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      area?: components["schemas"]["Area"];
    } & components["schemas"]["QuantityParameters"]) | ({
      admin: components["schemas"]["AdminSelection"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PolygonRequestCountryCode"];
      name?: components["schemas"]["Name"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      skill?: components["schemas"]["PointRequestSkill"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      area?: components["schemas"]["Area"];
    } & components["schemas"]["QuantityParameters"]) | ({
      field: components["schemas"]["Field"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PolygonRequestCountryCode"];
      name?: components["schemas"]["Name"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      skill?: components["schemas"]["PointRequestSkill"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      area?: components["schemas"]["Area"];
    } & components["schemas"]["QuantityParameters"]);
    /** @description A polygon, an administrative area or a saved field, one of the three. Forage needs no crop; fields that are not listed are ignored. */
    ForagePolygonRequest: {
      geometry: components["schemas"]["PolygonGeometry"];
      country_code?: components["schemas"]["PolygonRequestCountryCode"];
      name?: components["schemas"]["Name"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      skill?: components["schemas"]["PointRequestSkill"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
    } | {
      admin: components["schemas"]["AdminSelection"];
      country_code?: components["schemas"]["PolygonRequestCountryCode"];
      name?: components["schemas"]["Name"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      skill?: components["schemas"]["PointRequestSkill"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
    } | {
      field: components["schemas"]["Field"];
      country_code?: components["schemas"]["PolygonRequestCountryCode"];
      name?: components["schemas"]["Name"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      skill?: components["schemas"]["PointRequestSkill"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
    };
    PolygonLocation: {
      /** @description The label of the request, or the name of the area. */
      name: string;
      /** @description With `lng`, a point inside. */
      lat: number;
      lng: number;
      /** @description The kind of place. */
      type: "polygon";
      /** @description Hectares, on the WGS 84 ellipsoid, to the square metre; small areas have three digits. */
      area_ha: number;
      admin?: components["schemas"]["AdvisedArea"];
    };
    Quantile: {
      /** @description Which one: 0.5 is the median. */
      quantile: number;
      /** @description The smallest value that, together with all smaller ones, has at least that part of the covered area: the inverse of the weighted distribution function (Hyndman and Fan, 1996, definition 1; `numpy.quantile` with `weights` and `method="inverted_cdf"`). */
      value: number;
      /** @description How far the exact quantile can lie from the value, rounding aside: 0 where it is exact. A polygon with more than 4,096 tiles (16 x 16 pixels) inside is computed from the least and greatest values of some of them, and one with very many values to a small part of their range. */
      error: number;
    };
    HistogramBin: {
      from: number;
      /** @description Values from the one to below the other; of the last bin it is the largest one. Where there are no more different values than bins, each is a class of its own: both are the value. */
      to: number;
      /** @description How much of the covered area has them. */
      percent: number;
      /** @description How far the exact percentage can lie from it, as for quantiles; 0 where it is exact. */
      error: number;
    };
    /** @description A layer in a polygon; the value is the mean, weighed by area. */
    PolygonYieldEntry: {
      scenario: components["schemas"]["Scenario"];
      condition?: components["schemas"]["EntryCondition"];
      yield_kg_ha: components["schemas"]["YieldKgHa"];
      min: components["schemas"]["Min"];
      max: components["schemas"]["Max"];
      stddev: components["schemas"]["Stddev"];
      covered_percent: components["schemas"]["CoveredPercent"];
      quantiles?: components["schemas"]["PolygonYieldEntryQuantiles"];
      histogram?: components["schemas"]["PolygonYieldEntryHistogram"];
      probability?: components["schemas"]["Probability"];
      range?: components["schemas"]["ValueRange"];
      scenario_of?: components["schemas"]["ScenarioOf"];
      quantity?: components["schemas"]["Quantity"];
    };
    /** @description A layer in a polygon; the value is the mean, weighed by area. */
    PolygonFertilizerEntry: {
      fertilizer_type: components["schemas"]["FertilizerType"];
      scenario: components["schemas"]["Scenario"];
      condition?: components["schemas"]["EntryCondition"];
      rate_kg_ha: components["schemas"]["RateKgHa"];
      min: components["schemas"]["Min"];
      max: components["schemas"]["Max"];
      stddev: components["schemas"]["Stddev"];
      covered_percent: components["schemas"]["CoveredPercent"];
      /** @description Kilograms for the covered area: the mean times its hectares. */
      total_kg: number;
      quantiles?: components["schemas"]["PolygonYieldEntryQuantiles"];
      histogram?: components["schemas"]["PolygonYieldEntryHistogram"];
      probability?: components["schemas"]["Probability"];
      range?: components["schemas"]["ValueRange"];
      scenario_of?: components["schemas"]["ScenarioOf"];
      quantity?: components["schemas"]["Quantity"];
    };
    /** @description A layer in a polygon; the value is the mean, weighed by area. */
    PolygonIsfmEntry: {
      isfm_type: components["schemas"]["IsfmType"];
      scenario: components["schemas"]["Scenario"];
      condition?: components["schemas"]["EntryCondition"];
      rate_tons_ha: components["schemas"]["RateTonsHa"];
      min: components["schemas"]["Min"];
      max: components["schemas"]["Max"];
      stddev: components["schemas"]["Stddev"];
      covered_percent: components["schemas"]["CoveredPercent"];
      /** @description Metric tons for the covered area: the mean times its hectares. */
      total_tons: number;
      quantiles?: components["schemas"]["PolygonYieldEntryQuantiles"];
      histogram?: components["schemas"]["PolygonYieldEntryHistogram"];
      probability?: components["schemas"]["Probability"];
      range?: components["schemas"]["ValueRange"];
      scenario_of?: components["schemas"]["ScenarioOf"];
      quantity?: components["schemas"]["Quantity"];
    };
    /** @description A layer in a polygon; the value is the mean, weighed by area. */
    PolygonForageEntry: {
      /** @description The species. */
      forage_variety: string;
      condition?: components["schemas"]["EntryCondition"];
      suitability_score: components["schemas"]["SuitabilityScore"];
      min: components["schemas"]["Min"];
      max: components["schemas"]["Max"];
      stddev: components["schemas"]["Stddev"];
      covered_percent: components["schemas"]["CoveredPercent"];
      quantiles?: components["schemas"]["PolygonYieldEntryQuantiles"];
      histogram?: components["schemas"]["PolygonYieldEntryHistogram"];
      range?: components["schemas"]["ValueRange"];
    };
    PolygonYieldResponse: {
      location: components["schemas"]["PolygonLocation"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      forecast_period: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month: components["schemas"]["ForecastMonth"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      yield_data: components["schemas"]["PolygonYieldEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["YieldResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      skill?: components["schemas"]["YieldResponseSkill"];
      quantities?: components["schemas"]["Quantities"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    PolygonFertilizerResponse: {
      location: components["schemas"]["PolygonLocation"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      forecast_period: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month: components["schemas"]["ForecastMonth"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      fertilizer_data: components["schemas"]["PolygonFertilizerEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["Expected"];
      by_condition?: components["schemas"]["ByCondition"];
      skill?: components["schemas"]["YieldResponseSkill"];
      quantities?: components["schemas"]["Quantities"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    PolygonIsfmResponse: {
      location: components["schemas"]["PolygonLocation"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      forecast_period: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month: components["schemas"]["ForecastMonth"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      isfm_data: components["schemas"]["PolygonIsfmEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["IsfmResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      skill?: components["schemas"]["YieldResponseSkill"];
      quantities?: components["schemas"]["Quantities"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    PolygonForageResponse: {
      location: components["schemas"]["PolygonLocation"];
      country_code: components["schemas"]["YieldResponseCountryCode"];
      crop: components["schemas"]["YieldResponseCrop"];
      release: components["schemas"]["YieldResponseRelease"];
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      forage_data: components["schemas"]["PolygonForageEntry"][];
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      by_condition?: components["schemas"]["ByCondition"];
      skill?: components["schemas"]["YieldResponseSkill"];
      place?: components["schemas"]["AnsweredPlace"];
      history_id?: components["schemas"]["HistoryId"];
      ignored?: components["schemas"]["Ignored"];
    };
    /** @description A GeoJSON FeatureCollection of at most 1000 polygons, in longitude and latitude (WGS 84). Heights are ignored, and so are properties that are not listed. */
    PolygonCollection: {
      /** @constant */
      type: "FeatureCollection";
      features: {
        /** @constant */
        type: "Feature";
        id?: components["schemas"]["Id"];
        /** @description The shape, of at most 10,000 vertices. */
        geometry: components["schemas"]["Polygon"] | components["schemas"]["MultiPolygon"];
        properties?: {
          /** @description Names the polygon where `id` is left out. */
          id?: unknown;
          /** @description Its label, where it is a text. */
          name?: unknown;
        } | null;
      }[];
    };
    /** @description All administrative areas of a level, or those of them within another one. */
    AreasSelection: {
      country_code: components["schemas"]["AdminSelectionCountryCode"];
      /** @description The level of the areas, 0 for the country. */
      level: number;
      /** @description Only areas within this one: the code of an area of any level above. */
      parent?: string | null;
    };
    /** @description The names of places and columns in a DHIS2. Identifiers are its UIDs, or those of its identifier scheme. */
    Dhis2Mapping: {
      /** @description The columns to send. Missing values are left out. */
      data_elements: {
        /** @description A column of the answer as CSV. */
        column: string;
        /** @description The data element of its numbers. */
        data_element: string;
        /** @description Left out of the values where it is left out. */
        category_option_combo?: string | null;
      }[];
      /** @description Which organisation units the areas or polygons are. Where it is left out, their codes are those of the organisation units, and the set says so (`orgUnitIdScheme`). */
      org_units?: {
        /** @description The code of an area, or the `id` of a polygon. */
        id: string;
        org_unit: string;
      }[] | null;
      /** @description The period of the values. The month of the forecast where it is left out, such as `202607`. */
      period?: string | null;
      /** @description Of the DHIS2: `gregorian`, `ethiopian`, `coptic`, `persian` or `thai`. The period is its month with most days of that of the forecast: `201811` for July 2026. */
      calendar?: string | null;
      /** @description Named in the set where it is sent. */
      data_set?: string | null;
      /** @description The combination of all values, if any. */
      attribute_option_combo?: string | null;
    };
    /** @description Polygons, the administrative areas of a level or saved fields, one of the three, and what to answer for. Fields that are not listed are ignored. */
    PolygonsRequest: ({
      polygons: components["schemas"]["PolygonCollection"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["CountryCode"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      area?: components["schemas"]["Area"];
      format?: components["schemas"]["Format"];
      dhis2?: components["schemas"]["Dhis2"];
    } & components["schemas"]["QuantityParameters"]) | ({
      admin: components["schemas"]["AreasSelection"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["CountryCode"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      area?: components["schemas"]["Area"];
      format?: components["schemas"]["Format"];
      dhis2?: components["schemas"]["Dhis2"];
    } & components["schemas"]["QuantityParameters"]) | ({
      fields: components["schemas"]["Fields"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["CountryCode"];
      forecast_period?: components["schemas"]["ForecastPeriod"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      area?: components["schemas"]["Area"];
      format?: components["schemas"]["Format"];
      dhis2?: components["schemas"]["Dhis2"];
    } & components["schemas"]["QuantityParameters"]);
    /** @description Polygons, the administrative areas of a level or saved fields, one of the three, and what to answer for. Fields that are not listed are ignored. */
    ForagePolygonsRequest: {
      polygons: components["schemas"]["PolygonCollection"];
      country_code?: components["schemas"]["CountryCode"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      format?: components["schemas"]["Format"];
      dhis2?: components["schemas"]["Dhis2"];
    } | {
      admin: components["schemas"]["AreasSelection"];
      country_code?: components["schemas"]["CountryCode"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      format?: components["schemas"]["Format"];
      dhis2?: components["schemas"]["Dhis2"];
    } | {
      fields: components["schemas"]["Fields"];
      country_code?: components["schemas"]["CountryCode"];
      release?: components["schemas"]["Release"];
      condition?: components["schemas"]["Condition"];
      quantiles?: components["schemas"]["Quantiles"];
      histogram?: components["schemas"]["Histogram"];
      format?: components["schemas"]["Format"];
      dhis2?: components["schemas"]["Dhis2"];
    };
    /** @description The answer of `POST /advisory/yield` with the polygon's `id` or the area's code. Without a value `yield_data` is null, with `error` and `code`; other failures have these alone. */
    PolygonYieldItem: {
      id?: components["schemas"]["YieldItemId"];
      sent?: components["schemas"]["PolygonYieldItemSent"];
      location?: components["schemas"]["PolygonLocation"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      /** @description Null where there is no value: see `error`. */
      yield_data?: components["schemas"]["PolygonYieldEntry"][] | null;
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["YieldResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
    };
    /** @description The answer of `POST /advisory/fertilizer` with the polygon's `id` or the area's code. Without a value `fertilizer_data` is null, with `error` and `code`; other failures have these alone. */
    PolygonFertilizerItem: {
      id?: components["schemas"]["YieldItemId"];
      sent?: components["schemas"]["PolygonYieldItemSent"];
      location?: components["schemas"]["PolygonLocation"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      /** @description Null where there is no value: see `error`. */
      fertilizer_data?: components["schemas"]["PolygonFertilizerEntry"][] | null;
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["Expected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
    };
    /** @description The answer of `POST /advisory/isfm` with the polygon's `id` or the area's code. Without a value `isfm_data` is null, with `error` and `code`; other failures have these alone. */
    PolygonIsfmItem: {
      id?: components["schemas"]["YieldItemId"];
      sent?: components["schemas"]["PolygonYieldItemSent"];
      location?: components["schemas"]["PolygonLocation"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      /** @description Null where there is no value: see `error`. */
      isfm_data?: components["schemas"]["PolygonIsfmEntry"][] | null;
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      expected?: components["schemas"]["IsfmResponseExpected"];
      by_condition?: components["schemas"]["ByCondition"];
      quantities?: components["schemas"]["Quantities"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
    };
    /** @description The answer of `POST /advisory/forage` with the polygon's `id` or the area's code. Without a value `forage_data` is null, with `error` and `code`; other failures have these alone. */
    PolygonForageItem: {
      id?: components["schemas"]["YieldItemId"];
      sent?: components["schemas"]["PolygonYieldItemSent"];
      location?: components["schemas"]["PolygonLocation"];
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      /** @description Null where there is no value: see `error`. */
      forage_data?: components["schemas"]["PolygonForageEntry"][] | null;
      condition_source?: components["schemas"]["ConditionSource"];
      question?: components["schemas"]["ConditionQuestion"];
      by_condition?: components["schemas"]["ByCondition"];
      error?: components["schemas"]["ErrorError"];
      code?: components["schemas"]["ErrorCode"];
      details?: components["schemas"]["Details"];
    };
    YieldPolygonsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each polygon or area, in their order. */
      items: components["schemas"]["PolygonYieldItem"][];
    };
    FertilizerPolygonsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each polygon or area, in their order. */
      items: components["schemas"]["PolygonFertilizerItem"][];
    };
    IsfmPolygonsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
      forecast_month?: components["schemas"]["ForecastMonth"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each polygon or area, in their order. */
      items: components["schemas"]["PolygonIsfmItem"][];
    };
    ForagePolygonsResponse: {
      country_code?: components["schemas"]["YieldResponseCountryCode"];
      crop?: components["schemas"]["YieldResponseCrop"];
      release?: components["schemas"]["YieldResponseRelease"];
      synthetic?: components["schemas"]["YieldResponseSynthetic"];
      stale?: components["schemas"]["YieldResponseStale"];
      country_source?: components["schemas"]["CountrySource"];
      ignored?: components["schemas"]["Ignored"];
      /** @description One for each polygon or area, in their order. */
      items: components["schemas"]["PolygonForageItem"][];
    };
    /** @description A file that a release was loaded from. */
    ReleaseFile: {
      /** @description Without folders. */
      name: string;
      /** @description Of its bytes, as `sha256sum` prints it; an archive is hashed as it is. */
      sha256: string;
      /** @description Its length. */
      bytes: number;
      /** @description The layers of it. Masks and older statements are without `nodata` and `masked`. */
      layers: {
        /** @description The number of the layer. */
        layer: number;
        /** @description That the layer is read from; a mask has none. */
        band?: number;
        /** @description Of the raster in an archive. */
        path?: string;
        /** @description Pixels of this number have no value; null for none. */
        nodata?: number | null;
        /** @description Whether pixels of mask or alpha 0 have no value. */
        masked?: boolean;
      }[];
    };
    /** @description An administrative area by its name. */
    AdminReference: {
      level: components["schemas"]["Level"];
      code: components["schemas"]["Code"];
      name: string;
    };
    /** @description A point to look at. Fields that are not listed are ignored. */
    LocationRequest: {
      lat: components["schemas"]["Lat"];
      lng: components["schemas"]["Lng"];
      /** @description The country that the point should lie in, in any case: one of `eth`, `rwa`, `ken`, `gha`. The one it lies in when left out. */
      country_code?: string | null;
      /** @description The crop that the products are wanted for. The first one of the country when left out. */
      crop?: string | null;
    };
    ProductAvailability: {
      /** @description Whether the point endpoint of the product has a value there. */
      available: boolean;
      /** @description Why not: the code of the error that the point endpoint would answer with. */
      reason?: "CROP_NOT_AVAILABLE" | "NO_RELEASE" | "OUTSIDE_COUNTRY" | "NO_DATA";
    };
    LocationValidation: {
      /** @description Whether the point lies in the country that was asked for, or else in any that the service answers for. */
      valid: boolean;
      country_code: string | null;
      country: string | null;
      /** @description The areas that it lies in, from level 1 down. A lake may be in a district and in no sector. */
      admin: components["schemas"]["AdminReference"][];
      crop: string | null;
      /** @description Of the country that was asked for, or else the one that the point lies in. */
      products: {
        yield: components["schemas"]["ProductAvailability"];
        fertilizer: components["schemas"]["ProductAvailability"];
        isfm: components["schemas"]["ProductAvailability"];
        forage: components["schemas"]["ProductAvailability"];
      };
      /** @description The nearest country, where the point lies in none. */
      nearest?: {
        country_code: string;
        country: string;
        /** @description To its border. */
        distance_km: number;
      };
      /** @description Where the point lies in no country, and would with `lat` and `lng` swapped: that it would. */
      hint?: string;
    };
    AdminArea: {
      code: components["schemas"]["AdminAreaCode"];
      name: string;
      level: components["schemas"]["Level"];
      country_code: string;
      /** @description The areas it lies in, from the country down to the one right above. */
      parents: components["schemas"]["AdminReference"][];
      /** @description Square kilometres. */
      area_km2: number;
      /** @description West, south, east and north in decimal degrees. */
      bbox: number[];
      /** @description The centre of mass, which may lie outside of a bent area. */
      centroid: { lat: number; lng: number; };
      geometry?: components["schemas"]["MultiPolygon"];
    };
    AdminAreaList: {
      /** @description In the order of their codes. */
      items: components["schemas"]["AdminArea"][];
      next_cursor: components["schemas"]["NextCursor"];
    };
    CatalogCountry: {
      code: string;
      name: string;
      /** @description Codes of the crops it offers; forage needs none. */
      crops: string[];
    };
    CatalogCrop: { code: string; name: string; };
    /** @description The meaning of the values of a product. */
    CatalogValue: {
      /** @description Its name in an entry of an answer. */
      key: string;
      unit: string;
      description: string;
    };
    CatalogProduct: {
      product: components["schemas"]["CatalogProductProduct"];
      /** @description The unit of its values. */
      unit: string;
      value: components["schemas"]["CatalogValue"];
      needs_crop: boolean;
      /** @description Its point endpoint. */
      path: string;
    };
    /** @description The season of a scenario. */
    CatalogScenario: { scenario: string; description: string; };
    /** @description The meaning of a word in answers. */
    CatalogTerm: { term: string; description: string; };
    /** @description The conditions of a field that a release has values for. */
    Conditions: {
      /** @description For people, where a request names none. */
      question: string;
      /** @description In the order of answers. */
      list: { condition: string; title: string; }[];
      /** @description Conditions by the pixels of its landscape raster, which decides where a request names none. */
      codes?: { [key: string]: string; };
      /** @description Decides where a request names none, and no landscape raster has the place. */
      default?: string;
    };
    /** @description A grid that layers of the release are on. */
    CatalogGrid: {
      /** @description EPSG code of the CRS. */
      srid: number;
      /** @description Pixels. */
      width: number;
      /** @description Pixels. */
      height: number;
      /** @description The size of a pixel. A point has the value of its pixel, so answers do not distinguish places within a pixel. */
      resolution: {
        x: number;
        y: number;
        /** @description The unit of the CRS. */
        unit: string;
        /** @description About how many metres a pixel has from west to east, in the middle of the grid. Null for a local CRS. */
        metres_x: number | null;
        /** @description About how many metres a pixel has from south to north, in the middle of the grid. Null for a local CRS. */
        metres_y: number | null;
      };
      extent: components["schemas"]["Extent"];
    };
    /** @description The smallest and the largest value of a release, in its unit. */
    CatalogRange: { min: number; max: number; };
    CatalogRelease: {
      release: string;
      product: components["schemas"]["CatalogProductProduct"];
      country_code: string;
      crop: components["schemas"]["CatalogReleaseCrop"];
      /** @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. As `YYYY-MM`, for requests. None for forage. */
      forecast_period: string | null;
      /** @description Counts the releases for the same product, country, crop and month. */
      version: number;
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      lossy?: components["schemas"]["Lossy"];
      /** @description The last day (UTC) of its season; null where it has none. */
      valid_until: string | null;
      stale?: components["schemas"]["Stale"];
      /** @description Fertilizers, organic inputs or species. */
      inputs: string[];
      scenarios: string[];
      conditions?: components["schemas"]["Conditions"];
      units: string[];
      /** @description Null where it has no value. */
      range: components["schemas"]["CatalogRange"] | null;
      /** @description Of its values. */
      grids: components["schemas"]["CatalogGrid"][];
      source: components["schemas"]["Source"];
      licence: string;
      published_at: components["schemas"]["CreatedAt"];
    };
    /** @description The administrative areas of one level of a country. */
    CatalogBoundaries: {
      country_code: string;
      /** @description 0 is the country itself. */
      level: number;
      /** @description How many there are. */
      areas: number;
      /** @description Made by this project for demonstration. Not boundaries. */
      approximate: boolean;
      source: string;
      licence: string;
      loaded_at: components["schemas"]["CreatedAt"];
    };
    Catalog: {
      countries: components["schemas"]["CatalogCountry"][];
      crops: components["schemas"]["CatalogCrop"][];
      products: components["schemas"]["CatalogProduct"][];
      /** @description The usual ones, in their order. */
      scenarios: components["schemas"]["CatalogScenario"][];
      glossary: components["schemas"]["CatalogTerm"][];
      releases: components["schemas"]["CatalogRelease"][];
      boundaries: components["schemas"]["CatalogBoundaries"][];
      extensions: components["schemas"]["Extensions"];
    };
    /** @description A layer of a release. */
    ReleaseLayer: {
      /** @description Its number, in the order of answers. */
      layer: number;
      /** @description The fertilizer, organic input or species; null where the product has none. */
      input: string | null;
      scenario: string | null;
      condition?: components["schemas"]["ReleaseLayerCondition"];
      /** @description Of a band about layers: the `probability` of a scenario; `low` and `high` end or `stddev` of the layer with its names; the `landscape` that a condition comes from; the `share` of the condition that values without one are taken of. */
      role?: "probability" | "low" | "high" | "stddev" | "landscape" | "share";
      /** @description Of its scenario, where the release has one for all places. */
      probability?: number;
      /** @description The quantiles that the range of its values lies between. */
      range?: number[];
      unit: string;
      /** @description To so many digits its values are rounded. */
      decimals: number;
      /** @description Value = pixel * `scale` + `offset`. */
      scale: number;
      offset: number;
      /** @description How pixels are stored, in the words of PostGIS. */
      pixel_type: string;
      /** @description Which of the `grids` it is on, from 1. */
      grid: number;
      /** @description How many pixels have a value. */
      pixels: number;
      minimum: number | null;
      maximum: number | null;
      /** @description Of the pixels; null where none has a value. */
      mean: number | null;
    };
    /** @description When a release was published. */
    ReleasePeriod: {
      from: components["schemas"]["CreatedAt"];
      /** @description Null while it is published. */
      to: string | null;
    };
    /** @description A release. */
    ReleaseSummary: {
      release: string;
      product: components["schemas"]["ReleaseSummaryProduct"];
      country_code: string;
      crop: components["schemas"]["CatalogReleaseCrop"];
      forecast_period: components["schemas"]["ReleaseSummaryForecastPeriod"];
      version: components["schemas"]["Version"];
      /** @description `published`: it answers now. `replaced`: it was published, and answers where it is named. `unpublished`: it never was; admins alone see it. `deleted`: its values are gone, and its description is left. `incomplete`: it is being loaded, or its load was cut off; admins alone see it, where they ask for it. */
      state: "published" | "replaced" | "unpublished" | "deleted" | "incomplete";
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      lossy?: components["schemas"]["Lossy"];
      valid_until: components["schemas"]["ValidUntil"];
      stale?: components["schemas"]["Stale"];
      source: components["schemas"]["Source"];
      licence: string;
      checksum: components["schemas"]["Checksum"];
      loaded_at: components["schemas"]["CreatedAt"];
      published_from: components["schemas"]["PublishedFrom"];
      published_to: components["schemas"]["PublishedTo"];
      deleted_at: components["schemas"]["DeletedAt"];
      /** @description Of an `incomplete` one, whether a process still loads it; `loaded_at` is when that began. `cut_off`: none does, and the next load of the same data clears its rest away. `unknown`: an older version has begun it, which does not say. */
      load?: "running" | "cut_off" | "unknown";
    };
    /** @description All that the service has of a release. */
    ReleaseDescription: {
      release: string;
      product: components["schemas"]["ReleaseSummaryProduct"];
      country_code: string;
      crop: components["schemas"]["CatalogReleaseCrop"];
      forecast_period: components["schemas"]["ReleaseSummaryForecastPeriod"];
      version: components["schemas"]["Version"];
      /** @description `published`: it answers now. `replaced`: it was published, and answers where it is named. `unpublished`: it never was; admins alone see it. `deleted`: its values are gone, and its description is left. */
      state: "published" | "replaced" | "unpublished" | "deleted";
      synthetic: components["schemas"]["YieldResponseSynthetic"];
      lossy?: components["schemas"]["Lossy"];
      valid_until: components["schemas"]["ValidUntil"];
      stale?: components["schemas"]["Stale"];
      source: components["schemas"]["Source"];
      licence: string;
      checksum: components["schemas"]["Checksum"];
      loaded_at: components["schemas"]["CreatedAt"];
      published_from: components["schemas"]["PublishedFrom"];
      published_to: components["schemas"]["PublishedTo"];
      deleted_at: components["schemas"]["DeletedAt"];
      /** @description When it was published, the first time first: it may have been rolled back to. */
      periods: components["schemas"]["ReleasePeriod"][];
      /** @description The files that it was loaded from; none of the demo. Null where an older version loaded it, which kept no hashes. */
      files: components["schemas"]["ReleaseFile"][] | null;
      /** @description By the key of the operator, of `GET /releases/{release}/statement`: a detached JWS with an unencoded payload (RFC 7797). Null without a statement or a key. */
      signature: string | null;
      conditions?: components["schemas"]["Conditions"];
      /** @description None where it is deleted. */
      grids: components["schemas"]["CatalogGrid"][];
      /** @description In the order of answers. None where it is deleted. */
      layers: components["schemas"]["ReleaseLayer"][];
      /** @description Where packs of areas of its country are, which have the releases that answer: a template (RFC 6570) of `area` and `format`. Null where it is not published, and where the service offers no files. */
      packs: string | null;
    };
    ReleaseList: {
      /** @description In the order of their codes. */
      items: components["schemas"]["ReleaseSummary"][];
      next_cursor: components["schemas"]["ReleaseListNextCursor"];
    };
    /** @description The meaning of a colour of the map. */
    MapClass: {
      /** @description Where it begins. */
      from: number;
      /** @description Where it ends: the next one begins there. The last one has its end, too. */
      to: number;
      color: string;
      /** @description Of a class that is one number. */
      title?: string;
    };
    /** @description A layer of a release as a map: TileJSON 2.2.0, with a legend. */
    Tileset: {
      /** @description The version of TileJSON that this is. */
      tilejson: "2.2.0";
      name: string;
      /** @enum {string} */
      scheme: "xyz";
      /** @description Where its tiles are: PNG of 256 x 256 pixels in Web Mercator. */
      tiles: string[];
      minzoom: number;
      /** @description Where its pixels are larger than those of the map: from there on, tiles may be enlarged. */
      maxzoom: number;
      bounds: components["schemas"]["Extent"];
      /** @description Source and licence. */
      attribution: string;
      release: components["schemas"]["TilesetRelease"];
      /** @description Which of its layers, from 1, or `most-likely`: the season with the greatest odds. */
      layer: number | "most-likely";
      /** @description The fertilizer, organic input or species; null for yields. */
      input: string | null;
      /** @description The season; null for forage. */
      scenario: string | null;
      condition?: components["schemas"]["ReleaseLayerCondition"];
      role?: components["schemas"]["Role"];
      unit: string;
      /** @description How its values are cut into classes. */
      cut: "quantiles" | "equal";
      /** @description The legend, from low values to high. Layers of one input and condition share it, so that their scenarios compare. Empty where none of them has a value. */
      classes: components["schemas"]["MapClass"][];
    };
    /** @description The layers of a release as maps. */
    LayerList: {
      release: components["schemas"]["TilesetRelease"];
      /** @description In the order of the answers; then the bands about them, and `most-likely`. */
      layers: components["schemas"]["Tileset"][];
    };
    /** @description The place; of a polygon, a point inside it. */
    HistoryLocation: {
      name: string;
      lat: number;
      lng: number;
      type: components["schemas"]["Type"];
      /** @description Hectares, of a polygon. */
      area_ha?: number;
      admin?: components["schemas"]["AdvisedArea"];
    };
    /** @description An advisory as it was given. */
    HistoryItem: components["schemas"]["YieldHistoryItem"] | components["schemas"]["FertilizerHistoryItem"] | components["schemas"]["IsfmHistoryItem"] | components["schemas"]["ForageHistoryItem"] | components["schemas"]["EverythingHistoryItem"];
    YieldHistoryItem: {
      /** Format: uuid */
      id: string;
      created_at: components["schemas"]["CreatedAt"];
      kind: components["schemas"]["Type"];
      product: "yield";
      country_code: string;
      crop: components["schemas"]["YieldHistoryItemCrop"];
      releases: components["schemas"]["Releases"];
      synthetic?: components["schemas"]["Synthetic"];
      location: components["schemas"]["HistoryLocation"];
      forecast_period?: string;
      forecast_month?: components["schemas"]["YieldHistoryItemForecastMonth"];
      request: components["schemas"]["Request"];
      /** @description The answer, without its `history_id`. It never changes. */
      answer: {
        location: components["schemas"]["HistoryLocation"];
        country_code?: components["schemas"]["YieldResponseCountryCode"];
        crop?: components["schemas"]["YieldResponseCrop"];
        forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
        forecast_month?: components["schemas"]["ForecastMonth"];
        release?: components["schemas"]["YieldResponseRelease"];
        synthetic?: components["schemas"]["YieldResponseSynthetic"];
        stale?: components["schemas"]["YieldResponseStale"];
        yield_data: (components["schemas"]["PolygonYieldEntry"] | components["schemas"]["YieldEntry"])[];
      };
      feedback: components["schemas"]["YieldHistoryItemFeedback"];
    };
    FertilizerHistoryItem: {
      /** Format: uuid */
      id: string;
      created_at: components["schemas"]["CreatedAt"];
      kind: components["schemas"]["Type"];
      product: "fertilizer";
      country_code: string;
      crop: components["schemas"]["YieldHistoryItemCrop"];
      releases: components["schemas"]["Releases"];
      synthetic?: components["schemas"]["Synthetic"];
      location: components["schemas"]["HistoryLocation"];
      forecast_period?: string;
      forecast_month?: components["schemas"]["YieldHistoryItemForecastMonth"];
      request: components["schemas"]["Request"];
      /** @description The answer, without its `history_id`. It never changes. */
      answer: {
        location: components["schemas"]["HistoryLocation"];
        country_code?: components["schemas"]["YieldResponseCountryCode"];
        crop?: components["schemas"]["YieldResponseCrop"];
        forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
        forecast_month?: components["schemas"]["ForecastMonth"];
        release?: components["schemas"]["YieldResponseRelease"];
        synthetic?: components["schemas"]["YieldResponseSynthetic"];
        stale?: components["schemas"]["YieldResponseStale"];
        fertilizer_data: (components["schemas"]["PolygonFertilizerEntry"] | components["schemas"]["FertilizerEntry"])[];
      };
      feedback: components["schemas"]["YieldHistoryItemFeedback"];
    };
    IsfmHistoryItem: {
      /** Format: uuid */
      id: string;
      created_at: components["schemas"]["CreatedAt"];
      kind: components["schemas"]["Type"];
      product: "isfm";
      country_code: string;
      crop: components["schemas"]["YieldHistoryItemCrop"];
      releases: components["schemas"]["Releases"];
      synthetic?: components["schemas"]["Synthetic"];
      location: components["schemas"]["HistoryLocation"];
      forecast_period?: string;
      forecast_month?: components["schemas"]["YieldHistoryItemForecastMonth"];
      request: components["schemas"]["Request"];
      /** @description The answer, without its `history_id`. It never changes. */
      answer: {
        location: components["schemas"]["HistoryLocation"];
        country_code?: components["schemas"]["YieldResponseCountryCode"];
        crop?: components["schemas"]["YieldResponseCrop"];
        forecast_period?: components["schemas"]["YieldResponseForecastPeriod"];
        forecast_month?: components["schemas"]["ForecastMonth"];
        release?: components["schemas"]["YieldResponseRelease"];
        synthetic?: components["schemas"]["YieldResponseSynthetic"];
        stale?: components["schemas"]["YieldResponseStale"];
        isfm_data: (components["schemas"]["PolygonIsfmEntry"] | components["schemas"]["IsfmEntry"])[];
      };
      feedback: components["schemas"]["YieldHistoryItemFeedback"];
    };
    ForageHistoryItem: {
      /** Format: uuid */
      id: string;
      created_at: components["schemas"]["CreatedAt"];
      kind: components["schemas"]["Type"];
      product: "forage";
      country_code: string;
      crop: components["schemas"]["YieldHistoryItemCrop"];
      releases: components["schemas"]["Releases"];
      synthetic?: components["schemas"]["Synthetic"];
      location: components["schemas"]["HistoryLocation"];
      forecast_period?: string;
      forecast_month?: components["schemas"]["YieldHistoryItemForecastMonth"];
      /** @description The request as the endpoint took it: its parameters, and the type, longitudes and latitudes of a polygon. */
      request: components["schemas"]["ForagePointRequest"] | components["schemas"]["ForagePolygonRequest"];
      /** @description The answer, without its `history_id`. It never changes. */
      answer: {
        location: components["schemas"]["HistoryLocation"];
        country_code?: components["schemas"]["YieldResponseCountryCode"];
        crop?: components["schemas"]["YieldResponseCrop"];
        release?: components["schemas"]["YieldResponseRelease"];
        synthetic?: components["schemas"]["YieldResponseSynthetic"];
        stale?: components["schemas"]["YieldResponseStale"];
        forage_data: (components["schemas"]["PolygonForageEntry"] | components["schemas"]["ForageEntry"])[];
      };
      feedback: components["schemas"]["YieldHistoryItemFeedback"];
    };
    EverythingHistoryItem: {
      /** Format: uuid */
      id: string;
      created_at: components["schemas"]["CreatedAt"];
      kind: components["schemas"]["Type"];
      product: "all";
      country_code: string;
      crop: components["schemas"]["YieldHistoryItemCrop"];
      releases: components["schemas"]["Releases"];
      synthetic?: components["schemas"]["Synthetic"];
      location: components["schemas"]["HistoryLocation"];
      forecast_period?: string;
      forecast_month?: components["schemas"]["YieldHistoryItemForecastMonth"];
      request: components["schemas"]["PointRequest"];
      /** @description The answer, without its `history_id`. It never changes. */
      answer: {
        location: components["schemas"]["Location"];
        country_code?: components["schemas"]["YieldResponseCountryCode"];
        crop?: components["schemas"]["YieldResponseCrop"];
        country_source?: components["schemas"]["CountrySource"];
        yield: components["schemas"]["YieldSection"];
        fertilizer: components["schemas"]["FertilizerSection"];
        isfm: components["schemas"]["IsfmSection"];
        forage: components["schemas"]["ForageSection"];
        provenance?: components["schemas"]["YieldResponseProvenance"];
      };
      feedback: components["schemas"]["YieldHistoryItemFeedback"];
    };
    HistoryList: {
      /** @description The newest first. */
      items: components["schemas"]["HistoryItem"][];
      next_cursor: components["schemas"]["NextCursor"];
    };
    /** @description Feedback on an advisory. Fields that are not listed are ignored. */
    FeedbackRequest: {
      rating: components["schemas"]["Rating"];
      comment?: string | null;
      /** @description Observations in the field. Fields that are not listed are ignored. */
      observed?: {
        /** @description The harvest, in kg/ha. */
        yield_kg_ha?: number | null;
        /** @description Inorganic fertilizer applied, in kg/ha. */
        rate_kg_ha?: number | null;
        /** @description Organic input applied, in metric tons per hectare. */
        rate_tons_ha?: number | null;
        /** Format: date @description The date of the harvest, which is not in the future. */
        harvested_on?: string | null;
      } | null;
    };
    /** @description Answers to callers with a token, including deleted items of the history. */
    AdvisoryCounts: {
      total: number;
      by_product: {
        /** @description `all` is every product in one call. */
        product: "yield" | "fertilizer" | "isfm" | "forage" | "all";
        advisories: number;
      }[];
      by_country: { country_code: string; advisories: number; }[];
      by_crop: { /** @description Null for forage. */ crop: string | null; advisories: number; }[];
      /** @description Every day from the first to the last, also those without any. */
      by_day: { /** Format: date */ day: string; advisories: number; }[];
    };
    /** @description Feedback that was first given in these days and is still there. */
    FeedbackCounts: {
      count: number;
      /** @description The mean rating, to two decimals; null where there is none. */
      average: number | null;
    };
    /** @description Milliseconds from the arrival of a request until its answer was handed to the network; null without requests. `max` is exact, the others to within 10 %: they come from a histogram. */
    Latency: { p50: number | null; p95: number | null; p99: number | null; max: number | null; };
    /** @description All requests that were answered, with a token or without, by all processes of the service. */
    ServiceStats: {
      users: {
        /** @description Accounts there are now. */
        registered: number;
        /** @description Of these, who were given an advisory in these days. */
        active: number;
      };
      requests: number;
      errors: components["schemas"]["Errors"];
      latency: components["schemas"]["Latency"];
      by_error: { status: number; code: string; requests: number; }[];
      by_operation: {
        /** @description The operationId; `documentation`, `preflight` and `unknownPath` are no operations. */
        operation: string;
        requests: number;
        errors: components["schemas"]["Errors"];
        latency: components["schemas"]["Latency"];
      }[];
      by_day: {
        /** Format: date */
        day: string;
        requests: number;
        errors: components["schemas"]["Errors"];
        latency: components["schemas"]["Latency"];
      }[];
    };
    Stats: {
      /** @description The users in the counts. */
      scope: "own" | "all";
      /** Format: date */
      from: string;
      /** Format: date */
      to: string;
      advisories: components["schemas"]["AdvisoryCounts"];
      feedback: components["schemas"]["FeedbackCounts"];
      service?: components["schemas"]["ServiceStats"];
    };
    /** @description The slowest calls that a process of the service has answered lately. */
    SlowCalls: {
      /** Format: date-time @description Calls that were over before are not among them. */
      since: string;
      /** @description The slowest first; of each operation five at most. */
      items: {
        /** @description From the arrival of the request until its answer was handed to the network. */
        milliseconds: number;
        /** @description As in `GET /stats`. */
        operation: string;
        status: number;
        /** @description Of the error; null for a success. */
        code: string | null;
        ended_at: components["schemas"]["CreatedAt"];
        /** @description The `X-Request-Id` of the answer; `reqId` in the log, where `ACCESS_LOG` is on. */
        request_id: string;
      }[];
    };
    /** @description The changes. Other fields stay as they are; unknown ones are ignored. */
    ProfileChanges: {
      /** @description The name of the person. */
      name?: string | null;
      /** @description The employer of the person; null for none. */
      organisation?: string | null;
    };
    /** @description The result of the deletion of an account. */
    DeletionReport: {
      /** @description How many records of each kind are gone. */
      removed: { [key: string]: number; };
      /** @description How many records of each kind stay with nothing that leads to the person. */
      anonymised: { [key: string]: number; };
    };
    /** @description A new account. Fields that are not listed are ignored. */
    RegisterRequest: {
      email: components["schemas"]["Email"];
      password: components["schemas"]["Password"];
      /** @description The name of the person. */
      name: string;
      /** @description The employer of the person. */
      organisation?: string | null;
    };
    /** @description An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored. */
    LoginRequest: {
      email: string;
      password: components["schemas"]["LoginRequestPassword"];
      totp?: components["schemas"]["Totp"];
      recovery_code?: components["schemas"]["RecoveryCode"];
    };
    /** @description The tokens of a login, until the next refresh. */
    Tokens: {
      /** @description Send it as `Authorization: Bearer <access_token>`. */
      access_token: string;
      /** @enum {string} */
      token_type: "Bearer";
      /** @description Seconds until the access token expires. */
      expires_in: number;
      /** @description Gives new tokens at `POST /auth/refresh`, once. It is valid for 30 days. */
      refresh_token: string;
      user: components["schemas"]["UserProfile"];
    };
    RefreshRequest: { refresh_token: string; };
    PasswordChange: {
      current_password: components["schemas"]["LoginRequestPassword"];
      new_password: components["schemas"]["Password"];
      /** @description Whether the keys of the account end as well; they go on when left out. */
      end_keys?: boolean | null;
    };
    /** @description An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored. */
    Reauthentication: {
      password: components["schemas"]["LoginRequestPassword"];
      totp?: components["schemas"]["Totp"];
      recovery_code?: components["schemas"]["RecoveryCode"];
    };
    /** @description The address of the mail. */
    MailRequest: { email: components["schemas"]["Email"]; };
    PasswordReset: {
      token: components["schemas"]["Token"];
      password: components["schemas"]["Password"];
      /** @description Whether the keys of the account end, by default true: an intruder may have made or copied some. Send false after a forgotten password. */
      end_keys?: boolean | null;
    };
    EmailConfirmation: {
      token: components["schemas"]["Token"];
      /** @description The password of the registration. Only needed where the e-mail was registered more than once: it says which one counts. */
      password?: string | null;
    };
    /** @description A login that has not ended. */
    Session: {
      /** Format: uuid */
      id: string;
      created_at: components["schemas"]["CreatedAt"];
      /** Format: date-time @description When it was begun or continued last (`POST /auth/refresh`). */
      last_used_at: string;
      expires_at: components["schemas"]["CreatedAt"];
      /** @description Where that came from: an IPv4 address, or the /64 of an IPv6 one. Null where it was not recorded. */
      network: string | null;
      /** @description How the client names itself, in 200 characters at most. */
      user_agent: string | null;
      /** @description Whether it is the one that asks. */
      current: boolean;
    };
    /** @description The sessions, the one that was used last first. */
    SessionList: {
      items: components["schemas"]["Session"][];
      next_cursor: components["schemas"]["SessionListNextCursor"];
    };
    ApiKeyRequest: {
      /** @description The purpose of the key. */
      name: string;
      /** @description How long the key is valid. Until it is deleted when left out. */
      expires_in_days?: number | null;
      /** @description What the key may do: advisory and history when left out. */
      scopes?: ("advisory" | "history" | "account" | "admin")[] | null;
    };
    /** @description A key, without the key itself. */
    ApiKey: {
      /** Format: uuid */
      id: string;
      name: string;
      hint: components["schemas"]["Hint"];
      scopes: components["schemas"]["Scopes"];
      made_by: components["schemas"]["MadeBy"];
      created_at: components["schemas"]["CreatedAt"];
      expires_at: components["schemas"]["ExpiresAt"];
      last_used_at: components["schemas"]["LastUsedAt"];
      /** @description The number of requests with the key on each of the last 30 days (UTC) with any, refused ones included. */
      usage: { /** Format: date */ day: string; requests: number; }[];
    };
    /** @description A key that was just made. */
    NewApiKey: {
      /** Format: uuid */
      id: string;
      name: string;
      hint: components["schemas"]["Hint"];
      scopes: components["schemas"]["Scopes"];
      made_by: components["schemas"]["MadeBy"];
      created_at: components["schemas"]["CreatedAt"];
      expires_at: components["schemas"]["ExpiresAt"];
      last_used_at: components["schemas"]["LastUsedAt"];
      /** @description The key. Keep it now: it is never shown again. */
      key: string;
    };
    /** @description The keys, the newest first. */
    ApiKeyList: {
      items: components["schemas"]["ApiKey"][];
      next_cursor: components["schemas"]["SessionListNextCursor"];
    };
    /** @description An administrative area that a name may mean. */
    FoundArea: {
      country_code: string;
      level: components["schemas"]["Level"];
      code: components["schemas"]["AdminAreaCode"];
      name: string;
      /** @description The name of the area right above; null for a country. */
      parent: string | null;
      lat: number;
      lng: number;
    };
    FoundAreas: {
      /** @description The best first: whole names, beginnings, parts; then larger areas before smaller ones. */
      items: components["schemas"]["FoundArea"][];
      /** @description Whether no name has the text, and these differ from it by a typing error. */
      is_near: boolean;
      /** @description Of coordinates or an Open Location Code; null for a name. */
      position: { lat: number; lng: number; } | null;
    };
    /** Format: binary @description A cloud-optimised GeoTIFF of one band. */
    GeoTiff: string;
    StacLink: { rel: string; /** Format: uri */ href: string; type?: string; title?: string; };
    /** @description Addresses of a kind, as OGC API - Records has them. */
    StacLinkTemplate: {
      rel: string;
      title: string;
      /** @description An address with names of `variables` in braces (RFC 6570). */
      uriTemplate: string;
      variables: { [key: string]: { type: string; description?: string; enum?: string[]; }; };
    };
    StacProvider: {
      name: string;
      roles: ("producer" | "licensor" | "host")[];
      /** Format: uri */
      url?: string;
    };
    /** @description A STAC Catalog: its children are collections. */
    StacCatalog: {
      /** @enum {string} */
      type: "Catalog";
      /** @enum {string} */
      stac_version: "1.1.0";
      id: string;
      title: string;
      description: string;
      links: components["schemas"]["Links"];
    };
    /** @description A STAC Collection: the releases of a product in a country. */
    StacCollection: {
      /** @enum {string} */
      type: "Collection";
      /** @enum {string} */
      stac_version: "1.1.0";
      id: components["schemas"]["StacCollectionId"];
      title: string;
      description: string;
      license: components["schemas"]["License"];
      providers: components["schemas"]["Providers"];
      extent: { spatial: { bbox: number[][]; }; temporal: { interval: (string | null)[][]; }; };
      links: components["schemas"]["Links"];
      /** @description Of extensions, such as packs of areas of the country; none where the service offers no files. */
      linkTemplates?: components["schemas"]["StacLinkTemplate"][];
    };
    StacBand: {
      name: string;
      data_type: string;
      unit: string;
      /** @description Of floats; that of whole numbers is in the file. */
      nodata?: number;
      statistics?: { minimum: number; maximum: number; };
      /** @description A value is that of the whole of its pixel. */
      "raster:sampling": "area";
      /** @description The factor of a pixel. */
      "raster:scale"?: number;
      /** @description The summand after it. */
      "raster:offset"?: number;
    };
    StacAsset: {
      /** Format: uri */
      href: string;
      type: string;
      title: string;
      description?: string;
      roles: ("data" | "visual")[];
      bands?: components["schemas"]["StacBand"][];
      /** @description Its CRS; null where that has no code of the EPSG. */
      "proj:code"?: string | null;
      /** @description Rows, and pixels in a row. */
      "proj:shape"?: number[];
      /** @description From columns and rows to the CRS, as a matrix. */
      "proj:transform"?: number[];
    };
    /** @description A STAC Item: a release, and its layers. */
    StacItem: {
      /** @enum {string} */
      type: "Feature";
      /** @enum {string} */
      stac_version: "1.1.0";
      stac_extensions: string[];
      /** @description The code of a published release. */
      id: string;
      collection: components["schemas"]["StacCollectionId"];
      /** @description West, south, east and north in decimal degrees. */
      bbox: number[];
      /** @description The extent of its grids. */
      geometry: { /** @enum {string} */ type: "Polygon"; coordinates: number[][][]; };
      properties: {
        title: string;
        /** @description The time of loading, for releases without a season; null for others, which have a beginning and an end. */
        datetime: string | null;
        /** Format: date-time */
        start_datetime?: string;
        /** Format: date-time @description The end of its season, or of its month where that is not known. */
        end_datetime?: string;
        /** Format: date-time @description When it was loaded. */
        created: string;
        license: components["schemas"]["License"];
        providers: components["schemas"]["Providers"];
        /** @description Whether its values are made by a formula: they are no advice. */
        synthetic: boolean;
      };
      links: components["schemas"]["Links"];
      /** @description `layer-1`: the first layer as GeoTIFF, where the service allows downloads; `map-1`: its tiles as TileJSON. */
      assets: { [key: string]: components["schemas"]["StacAsset"]; };
    };
    /** @description How much of an area has values of a release. */
    CoverageOfProduct: {
      /** @description The subject of the advice. */
      product: "yield" | "fertilizer" | "isfm" | "forage";
      crop: components["schemas"]["CatalogReleaseCrop"];
      /** @description Null where none is published. */
      release: string | null;
      /** @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. As `YYYY-MM`. */
      forecast_period: string | null;
      /** @description How much of the area has values: of the layer that has most of them. */
      covered_percent: number;
      /** @description Why the area has no value at all: nothing is published; the country offers no such crop; the area lies outside the grid of the release; its pixels in the area have no value. */
      code?: "NO_RELEASE" | "CROP_NOT_AVAILABLE" | "OUTSIDE_GRID" | "NO_DATA";
      /** @description The same as a sentence. */
      reason?: string;
    };
    /** @description The coverage of an administrative area. */
    CoverageOfArea: {
      country_code: string;
      level: number;
      code: string;
      name: string;
      /** @description By product and crop; the newest month first. */
      products: components["schemas"]["CoverageOfProduct"][];
    };
    CoverageList: {
      /** @description By country, in the order of their codes. */
      items: components["schemas"]["CoverageOfArea"][];
      next_cursor: components["schemas"]["ReleaseListNextCursor"];
    };
    /** @description The change of a layer in all areas together. Percentages are of the area. */
    LayerChange: {
      input: components["schemas"]["LayerChangeInput"];
      scenario: components["schemas"]["ProvenanceLayerScenario"];
      condition?: components["schemas"]["EntryCondition"];
      unit: string;
      mean_before: components["schemas"]["MeanBefore"];
      mean_after: components["schemas"]["MeanAfter"];
      change: components["schemas"]["Change"];
      change_percent: components["schemas"]["ChangePercent"];
      covered_before_percent: components["schemas"]["CoveredBeforePercent"];
      covered_after_percent: components["schemas"]["CoveredAfterPercent"];
      gained_percent: components["schemas"]["GainedPercent"];
      lost_percent: components["schemas"]["LostPercent"];
      changed_percent: components["schemas"]["ChangedPercent"];
      changed_percent_least: components["schemas"]["ChangedPercentLeast"];
      changed_percent_most: components["schemas"]["ChangedPercentMost"];
    };
    /** @description The change of a layer in an area. Percentages are of the area. */
    AreaChange: {
      code: string;
      name: string;
      input: components["schemas"]["LayerChangeInput"];
      scenario: components["schemas"]["ProvenanceLayerScenario"];
      condition?: components["schemas"]["EntryCondition"];
      unit: string;
      mean_before: components["schemas"]["MeanBefore"];
      mean_after: components["schemas"]["MeanAfter"];
      change: components["schemas"]["Change"];
      change_percent: components["schemas"]["ChangePercent"];
      covered_before_percent: components["schemas"]["CoveredBeforePercent"];
      covered_after_percent: components["schemas"]["CoveredAfterPercent"];
      gained_percent: components["schemas"]["GainedPercent"];
      lost_percent: components["schemas"]["LostPercent"];
      changed_percent: components["schemas"]["ChangedPercent"];
      changed_percent_least: components["schemas"]["ChangedPercentLeast"];
      changed_percent_most: components["schemas"]["ChangedPercentMost"];
    };
    ReleaseChanges: {
      before: string;
      after: string;
      /** @description Of the areas; null where none are loaded, and all that the releases cover is one. */
      level: number | null;
      threshold_percent: number;
      /** @description Whether every pixel was looked at. */
      exact: boolean;
      layers: components["schemas"]["LayerChange"][];
      /** @description The areas in which a mean changes most, ten at most, each with the layer in which it does. */
      worst: components["schemas"]["AreaChange"][];
      /** @description Each layer in each area, in the order of their codes. */
      areas: components["schemas"]["AreaChange"][];
    };
    /** @description Something that has changed what the service answers. */
    ChangeEntry: {
      /** @description Larger than those of all entries before. */
      id: number;
      at: components["schemas"]["CreatedAt"];
      /** @description `published`: the release answers from now on. `rolled_back`: it does so again, in the place of a newer one. `withdrawn`: it answers no more, and nothing has taken its place. `deleted`: it is gone for good. `boundaries_loaded`: the administrative areas of a level are others. */
      kind: "published" | "rolled_back" | "withdrawn" | "deleted" | "boundaries_loaded";
      /** @description The code of the release; null for boundaries. */
      release: string | null;
      /** @description The code of the release that answered before it; null where none did. */
      replaced: string | null;
      /** @description The product; null for boundaries. */
      product: string | null;
      country_code: string;
      /** @description Null where the product needs none, and for boundaries. */
      crop: string | null;
      /** @description As `YYYY-MM`; null where the product has no seasons, and for boundaries. */
      forecast_month: string | null;
      /** @description Whether its values are made up; null for boundaries. */
      synthetic: boolean | null;
      /** @description Of the boundaries; null for releases. */
      level: number | null;
    };
    /** @description Changes, the oldest first. */
    ChangeFeed: {
      /** @description The newest last. */
      items: components["schemas"]["ChangeEntry"][];
      /** @description Send it as `since` the next time. It is the id of the last item, or the `since` of the request where there is none. */
      next_since: number;
      /** @description Whether there are more already. */
      more: boolean;
    };
    /** @description Where an item of the history is shown to everybody who knows the address. */
    Share: {
      /** @description The end of its address. It cannot be guessed. */
      id: string;
      url: components["schemas"]["ShareUrl"];
      shared_at: components["schemas"]["CreatedAt"];
    };
    /** @description A release that the cited answer was computed from. */
    CitedRelease: {
      release: string;
      /** @description The state of the release; see `GET /releases/{release}`. */
      state: "published" | "replaced" | "unpublished" | "deleted";
      source: components["schemas"]["Source"];
      licence: string;
      checksum: string;
    };
    /** @description How to verify the answer. The request with these headers gets these bytes, as long as the releases exist. Reasons for missing values are not verified. */
    Verification: {
      /** @enum {string} */
      method: "POST";
      url: string;
      /** @description The headers to send with it. */
      headers: { [key: string]: string; };
      /** @description The JSON to send: the request, with the releases that answered it. */
      body: { [key: string]: unknown; };
      /** @description Whether it takes a token, as polygons do. */
      token: boolean;
      /** @description Of the bytes of the answer, in hexadecimal. */
      sha256: string;
    };
    /** @description A shared advisory, without the person. */
    Citation: {
      id: string;
      url: components["schemas"]["ShareUrl"];
      shared_at: components["schemas"]["CreatedAt"];
      answered_at: components["schemas"]["CreatedAt"];
      kind: components["schemas"]["Type"];
      /** @description The product; `all` is every product in one call. */
      product: "yield" | "fertilizer" | "isfm" | "forage" | "all";
      releases: components["schemas"]["CitedRelease"][];
      /** @description The request. */
      request: { [key: string]: unknown; };
      /** @description The answer. */
      answer: { [key: string]: unknown; };
      /** @description Null where the request asks for nutrients: compositions of inputs may change. Also null where this version refuses a request that an earlier one answered: a `budget` for several products, or bags of less than a gram. */
      verify: components["schemas"]["Verification"] | null;
    };
    /** @description How a value of a field has changed; means of its area. */
    FieldChange: {
      input: components["schemas"]["FieldChangeInput"];
      scenario: components["schemas"]["FieldChangeScenario"];
      condition?: components["schemas"]["EntryCondition"];
      /** @description Null without a value. */
      before: number | null;
      /** @description Null without a value. */
      after: number | null;
      /** @description After minus before; null where one of them is missing. */
      change: number | null;
      /** @description Percent of the value before; null where there is none, or where it is 0. */
      change_percent: number | null;
    };
    /** @description A field whose advice has changed. */
    ChangedField: {
      id: components["schemas"]["ChangedFieldId"];
      name: components["schemas"]["ChangedFieldName"];
      lat: components["schemas"]["ChangedFieldLat"];
      lng: components["schemas"]["ChangedFieldLng"];
      area_ha: components["schemas"]["AreaHa"];
      /** @description The values that have changed by more than the threshold. */
      changes: components["schemas"]["FieldChange"][];
      /** @description Why a field could not be compared. */
      error?: string;
      code?: components["schemas"]["ErrorCode"];
    };
    /** @description The fields whose advice has changed. */
    FieldChanges: {
      collection: string;
      /** @description The later release. */
      release: string;
      /** @description The release of `since`. */
      release_before: string;
      unit: components["schemas"]["FieldChangesUnit"];
      /** @description In the order of the collection; fields without a change are left out. */
      items: components["schemas"]["ChangedField"][];
    };
    /** @description A collection of fields. */
    FieldCollection: {
      collection: string;
      fields: components["schemas"]["FieldCollectionFields"];
      bytes: components["schemas"]["Bytes"];
      changed_at: components["schemas"]["CreatedAt"];
    };
    FieldCollections: {
      /** @description By name. */
      items: components["schemas"]["FieldCollection"][];
      /** @description Fields of all collections. */
      fields: number;
      /** @description Bytes of all collections. */
      bytes: number;
      /** @description The most fields of an account. */
      most_fields: number;
      /** @description The most bytes of an account. */
      most_bytes: number;
    };
    /** @description A field that was not kept. */
    RefusedField: {
      /** @description Its place among the sent ones, from 1. */
      row: number;
      /** @description Its id, where it has a valid one. */
      id?: string;
      error: string;
      code: components["schemas"]["ErrorCode"];
    };
    /** @description The collection, and the fields that were not kept. */
    KeptFields: {
      collection: string;
      fields: components["schemas"]["FieldCollectionFields"];
      bytes: components["schemas"]["Bytes"];
      changed_at: components["schemas"]["CreatedAt"];
      /** @description How many fields were not kept. */
      refused: number;
      /** @description The first 1000 of them. */
      refusals: components["schemas"]["RefusedField"][];
    };
    /** @description A field as a GeoJSON Feature. */
    FieldFeature: {
      /** @enum {string} */
      type: "Feature";
      id: components["schemas"]["ChangedFieldId"];
      /** @description Longitude and latitude (WGS 84); at most 10,000 vertices. */
      geometry: components["schemas"]["Polygon"] | components["schemas"]["MultiPolygon"];
      properties?: components["schemas"]["Properties"];
    };
    /** @description The fields of a collection as GeoJSON. */
    FieldFeatures: {
      /** @enum {string} */
      type: "FeatureCollection";
      features: components["schemas"]["FieldFeature"][];
    };
    /** @description A field of a collection. */
    KeptField: {
      id: components["schemas"]["ChangedFieldId"];
      name: components["schemas"]["ChangedFieldName"];
      lat: components["schemas"]["ChangedFieldLat"];
      lng: components["schemas"]["ChangedFieldLng"];
      area_ha: components["schemas"]["AreaHa"];
      properties: components["schemas"]["Properties"];
    };
    /** @description A collection with its fields. */
    CollectionOfFields: {
      collection: string;
      fields: components["schemas"]["FieldCollectionFields"];
      bytes: components["schemas"]["Bytes"];
      changed_at: components["schemas"]["CreatedAt"];
      /** @description Neighbours follow each other; the order is the same at each call. */
      items: components["schemas"]["KeptField"][];
    };
    /** Format: binary @description A page with script, style and data in one file. */
    PackPage: string;
    /** Format: binary @description A row for each pixel that the area covers, in UTF-8. */
    PackTable: string;
    /** Format: binary @description GeoParquet 1.1 with the places of rows as points. */
    PackParquet: string;
    /** Format: binary @description MBTiles 1.3: tiles of a map as PNG, in a SQLite file. */
    PackTiles: string;
    TwoFactorStatus: {
      /** @description Whether a login needs a code. */
      enabled: boolean;
      /** @description Whether the account needs a second factor to do what its role allows. */
      required: boolean;
      /** @description How many recovery codes are left. */
      recovery_codes: number;
    };
    TwoFactorRequest: { password: components["schemas"]["LoginRequestPassword"]; };
    /** @description The secret of the authenticator app. It is shown once. */
    TwoFactorSecret: {
      /** @description For apps into which it has to be typed: base32. */
      secret: string;
      /** @description For apps that read QR codes: show it as one. */
      uri: string;
    };
    TwoFactorConfirmation: {
      /** @description The code that the authenticator app shows: six digits, for 30 seconds. It works once. */
      totp: string;
    };
    RecoveryCodes: {
      /** @description Ten codes in case the app is lost. They are shown once: print them, or write them down. */
      recovery_codes: string[];
    };
    /** @description The password, and `totp` or `recovery_code`. */
    TwoFactorRemoval: {
      password: components["schemas"]["LoginRequestPassword"];
      totp?: components["schemas"]["Totp"];
      recovery_code?: components["schemas"]["RecoveryCode"];
    };
    /** @description All that a release was loaded as: its members, grids and layers, too. Its bytes, in the canonical form of RFC 8785, never change. */
    ReleaseStatement: {
      /** @description The first has no `nodata` and `masked`. */
      format: "agro release 1" | "agro release 2";
      release: string;
      /** @description Those of its pixels. */
      files: components["schemas"]["ReleaseFile"][];
    } & {
      [key: string]: unknown;
    };
    /** @description Public keys (RFC 7517). */
    KeySet: {
      keys: {
        /** @enum {string} */
        kty: "OKP";
        /** @enum {string} */
        crv: "Ed25519";
        /** @description The public key, as base64url. */
        x: string;
        /** @description Its thumbprint (RFC 7638). */
        kid: string;
        /** @enum {string} */
        use: "sig";
        /** @enum {string} */
        alg: "EdDSA";
        /** Format: date-time @description Since when it signs no more. */
        retired_at?: string;
      }[];
    };
    /** @description How well a scenario has predicted what was observed. */
    ScenarioScore: {
      scenario: components["schemas"]["FieldChangeScenario"];
      count: components["schemas"]["Count"];
      bias: components["schemas"]["Bias"];
      rmse: components["schemas"]["Rmse"];
      mae: components["schemas"]["Mae"];
      rank_correlation: components["schemas"]["RankCorrelation"];
    };
    /** @description The same in an area. */
    DistrictScore: {
      code: string;
      name: string;
      scenario: components["schemas"]["FieldChangeScenario"];
      count: components["schemas"]["Count"];
      bias: components["schemas"]["Bias"];
      rmse: components["schemas"]["Rmse"];
      mae: components["schemas"]["Mae"];
      rank_correlation: components["schemas"]["RankCorrelation"];
    };
    ReliabilityBin: {
      /** @description How many forecasts had odds in it. */
      count: number;
      /** @description Their mean; null where there are too few accounts. */
      forecast: number | null;
      /** @description How often it came so, from 0 to 1. */
      observed: number | null;
    };
    /** @description How well the odds of a scenario are calibrated. */
    Reliability: {
      scenario: string;
      /** @description The reliability term of the Brier score (Murphy, 1973); 0 is best. */
      term: number;
      /** @description Of odds from 0 to below 0.1, and so on to 0.9 to 1. */
      bins: components["schemas"]["ReliabilityBin"][];
    };
    /** @description How good the odds of the three scenarios were. */
    OddsScore: {
      count: components["schemas"]["OddsScoreCount"];
      /** @description Of these, how many seasons a file has told. The others are the nearest value. */
      told: number;
      /** @description Brier score of the three scenarios, from 0 to 2; 0 is best. */
      brier: number;
      /** @description Ranked probability score, from 0 to 2; 0 is best. */
      rps: number;
      /** @description Ranked probability skill score: 1 is best, 0 as good as a third each. */
      rpss: number;
      reliability: components["schemas"]["Reliability"][];
    };
    /** @description How well an area was predicted. */
    AreaSkill: {
      code: string;
      name: string;
      n: components["schemas"]["OddsScoreCount"];
      bias: components["schemas"]["AreaSkillBias"];
      mae: components["schemas"]["AreaSkillMae"];
      within: components["schemas"]["Within"];
      brier: components["schemas"]["Brier"];
      rpss: components["schemas"]["Rpss"];
    };
    /** @description The same of an area, as it is kept with the release. */
    KeptSkill: {
      /** @description 0 is the country. */
      level: number;
      code: string;
      /** @description Of how many accounts each time; a row of a file is one. */
      observers: number;
      n: components["schemas"]["OddsScoreCount"];
      bias: components["schemas"]["AreaSkillBias"];
      mae: components["schemas"]["AreaSkillMae"];
      within: components["schemas"]["Within"];
      brier: components["schemas"]["Brier"];
      rpss: components["schemas"]["Rpss"];
      kept_at: components["schemas"]["CreatedAt"];
    };
    /** @description The predictions of a release against observations. */
    Scorecard: {
      release: string;
      product: string;
      /** @description Of bias, RMSE and MAE. */
      unit: string;
      /** @description Of the areas. */
      level: number;
      /** @description How many observations were given in feedback to answers of the release. */
      from_feedback: number;
      /** @description How many were told by text message and count: in an area at most as many as the others. */
      from_messages: number;
      /** @description How senders of text messages have rated its answers. */
      message_ratings: {
        /** @description How many ratings. */
        count: number;
        /** @description From 1 to 5; null below five senders. */
        mean: number | null;
      };
      /** @description How many were given in a file; 0 in answers of the API. */
      from_file: number;
      /** @description Of all these, how many the release has no value for, or values for several conditions. */
      without_value: number;
      /** @description Of fewer accounts nothing is shown; each row of a file counts as one. */
      smallest_group: number;
      scenarios: components["schemas"]["ScenarioScore"][];
      /** @description In the order of their codes. */
      districts: components["schemas"]["DistrictScore"][];
      /** @description How many scenarios of areas have too few, or would give away those that have. */
      withheld_groups: number;
      /** @description Null without odds. */
      odds: components["schemas"]["OddsScore"] | null;
      /** @description Of areas of the level, in the order of their codes. */
      skill: components["schemas"]["AreaSkill"][];
      /** @description What `agro scorecard --keep` has kept: the country, then its areas of level 1. */
      kept: components["schemas"]["KeptSkill"][];
    };
    /** @description Which changes are told. A value that comes or goes always is. */
    ChangeThreshold: {
      /** @description `absolute`: in the unit of the product. `relative`: in percent of the value that was told before. */
      kind: "absolute" | "relative";
      /** @description By more than so much a value has to change; with 0 by anything. */
      value: number;
    };
    SubscribedPlace: {
      /** @description The kind of place. */
      type: "point" | "polygon" | "area" | "fields";
      /** @description Of a point. */
      lat?: number;
      /** @description Of a point. */
      lng?: number;
      /** @description Of a polygon, as GeoJSON. */
      geometry?: { [key: string]: unknown; };
      /** @description Of an area. */
      code?: string;
      /** @description Of an area; null where it was not said. */
      level?: number | null;
      /** @description Of saved fields. */
      collection?: string;
    };
    /** @description The last value of a layer that was sent. */
    WatchedValue: {
      input: components["schemas"]["FieldChangeInput"];
      scenario: components["schemas"]["FieldChangeScenario"];
      condition?: components["schemas"]["EntryCondition"];
      /** @description Of a polygon or an area it is the mean. */
      value: number;
    };
    /** @description A new secret; deliveries are signed with the one before, too, for a day. */
    WebhookSecret: { secret: components["schemas"]["Secret"]; };
    /** @description A place (a point, a polygon, an administrative area or a collection of saved fields), the changes to report, and the address. */
    SubscriptionRequest: {
      lat: components["schemas"]["Lat"];
      lng: components["schemas"]["Lng"];
      product: components["schemas"]["Product"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      forecast_period?: components["schemas"]["SubscriptionRequestForecastPeriod"];
      name?: components["schemas"]["SubscriptionRequestName"];
      input?: components["schemas"]["Input"];
      scenario?: components["schemas"]["SubscriptionRequestScenario"];
      threshold: components["schemas"]["ChangeThreshold"];
      url: components["schemas"]["Url"];
    } | {
      geometry: components["schemas"]["PolygonGeometry"];
      product: components["schemas"]["Product"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      forecast_period?: components["schemas"]["SubscriptionRequestForecastPeriod"];
      name?: components["schemas"]["SubscriptionRequestName"];
      input?: components["schemas"]["Input"];
      scenario?: components["schemas"]["SubscriptionRequestScenario"];
      threshold: components["schemas"]["ChangeThreshold"];
      url: components["schemas"]["Url"];
    } | {
      admin: components["schemas"]["AdminSelection"];
      product: components["schemas"]["Product"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      forecast_period?: components["schemas"]["SubscriptionRequestForecastPeriod"];
      name?: components["schemas"]["SubscriptionRequestName"];
      input?: components["schemas"]["Input"];
      scenario?: components["schemas"]["SubscriptionRequestScenario"];
      threshold: components["schemas"]["ChangeThreshold"];
      url: components["schemas"]["Url"];
    } | {
      fields: components["schemas"]["Fields"];
      product: components["schemas"]["Product"];
      crop?: components["schemas"]["Crop"];
      country_code?: components["schemas"]["PointRequestCountryCode"];
      forecast_period?: components["schemas"]["SubscriptionRequestForecastPeriod"];
      name?: components["schemas"]["SubscriptionRequestName"];
      input?: components["schemas"]["Input"];
      scenario?: components["schemas"]["SubscriptionRequestScenario"];
      threshold: components["schemas"]["ChangeThreshold"];
      url: components["schemas"]["Url"];
    };
    /** @description A subscription, without its secret. */
    Subscription: {
      /** Format: uuid */
      id: string;
      name: components["schemas"]["SubscriptionName"];
      product: components["schemas"]["Product"];
      country_code: string;
      crop: components["schemas"]["SubscriptionCrop"];
      forecast_month: components["schemas"]["SubscriptionForecastMonth"];
      place: components["schemas"]["SubscribedPlace"];
      input: components["schemas"]["SubscriptionInput"];
      scenario: components["schemas"]["SubscriptionInput"];
      threshold: components["schemas"]["ChangeThreshold"];
      unit: components["schemas"]["FieldChangesUnit"];
      url: components["schemas"]["SubscriptionUrl"];
      status: components["schemas"]["Status"];
      disabled_reason: components["schemas"]["DisabledReason"];
      failing_since: components["schemas"]["FailingSince"];
      delivered_at: components["schemas"]["DeliveredAt"];
      created_at: components["schemas"]["CreatedAt"];
      release: components["schemas"]["SubscriptionRelease"];
      values: components["schemas"]["Values"];
    };
    /** @description A subscription that was just made. */
    NewSubscription: {
      /** Format: uuid */
      id: string;
      name: components["schemas"]["SubscriptionName"];
      product: components["schemas"]["Product"];
      country_code: string;
      crop: components["schemas"]["SubscriptionCrop"];
      forecast_month: components["schemas"]["SubscriptionForecastMonth"];
      place: components["schemas"]["SubscribedPlace"];
      input: components["schemas"]["SubscriptionInput"];
      scenario: components["schemas"]["SubscriptionInput"];
      threshold: components["schemas"]["ChangeThreshold"];
      unit: components["schemas"]["FieldChangesUnit"];
      url: components["schemas"]["SubscriptionUrl"];
      status: components["schemas"]["Status"];
      disabled_reason: components["schemas"]["DisabledReason"];
      failing_since: components["schemas"]["FailingSince"];
      delivered_at: components["schemas"]["DeliveredAt"];
      created_at: components["schemas"]["CreatedAt"];
      release: components["schemas"]["SubscriptionRelease"];
      values: components["schemas"]["Values"];
      secret: components["schemas"]["Secret"];
    };
    /** @description List your subscriptions, the newest first. */
    SubscriptionList: {
      items: components["schemas"]["Subscription"][];
      next_cursor: components["schemas"]["SessionListNextCursor"];
    };
    /** @description The result of a test delivery. */
    WebhookTest: {
      /** Format: uuid @description The `webhook-id` of the test message. */
      id: string;
      /** @description `delivered`: the target answered 2xx. `refused`: another status. `unanswered`: no answer within 10 seconds. `secret_lost`: the service cannot read the secret any more: renew it. */
      outcome: "delivered" | "refused" | "unanswered" | "secret_lost";
      /** @description The HTTP status that the target answered; null where it did not answer. */
      status: number | null;
    };
    ServiceLinks: {
      name: string;
      /** @description The OpenAPI document. */
      openapi: string;
      /** @description The documents for one purpose: `points`, `fields`, `account` and `operations`. */
      openapi_parts: { [key: string]: string; };
      /** @description The published data. */
      catalog: string;
      /** @description A page to try each operation on. */
      docs: string;
      /** @description The same in STAC. */
      stac: string;
      /** @description The OGC API, for GIS. */
      ogc: string;
      /** @description The tools for AI agents (MCP). */
      mcp: string;
      extensions: components["schemas"]["Extensions"];
    };
    Health: { status: components["schemas"]["HealthStatus"]; };
    Readiness: {
      status: components["schemas"]["HealthStatus"];
      /** @description The replica of the database, where the service has one. */
      replica?: {
        /** @description `used`: requests that only read are answered from it. `behind`: its data are too old. `unavailable`: it does not answer. Unless it is used, the database answers instead. */
        state: "used" | "behind" | "unavailable";
        /** @description How many milliseconds old at most what it answers is; null where it has no measure. */
        lag_ms: number | null;
      };
      /** @description How far the demo is, while synthetic data are still being loaded. Requests are answered meanwhile. */
      demo?: {
        /** @description Releases that are published. */
        loaded: number;
        /** @description Releases that the demo has. */
        of: number;
      };
      /** @description The files that rasters are in, where they are not in the database. */
      files?: {
        /** @description `unavailable`: the store does not answer. Values in memory or in the disk cache are answered; all else is 503. */
        state: "used" | "unavailable";
      };
    };
    /**
     * @description How the season turns out:
     *
     *     - `Above Normal`: The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. The source publishes the measure, rainfall as a rule.
     *     - `Normal`: The season turns out normal: in the middle third of past seasons.
     *     - `Below Normal`: The season turns out below normal: in the lower third of past seasons.
     *     - `Dominant`: The most likely of the other three seasons at each place. Each pixel has the value of that season; the mean of an area may mix several. The source of the release decides which season is most likely.
     *
     *     Or another by its name, as published by the source.
     */
    Scenario: string;
    /** @description The month of an older forecast, such as `2026-07`, `July 2026` or `jul 2026`. By default the newest. */
    ForecastPeriod: string | null;
    /** @description Of which month; the newest at any time when left out. */
    SubscriptionRequestForecastPeriod: string | null;
    /** @description The fields of an invalid point, as they were sent, without objects, lists and texts over 200 characters. */
    Sent: {
      /** @description Its name. */
      name?: string | number | boolean;
      /** @description Its latitude. */
      lat?: string | number | boolean;
      /** @description Its longitude. */
      lng?: string | number | boolean;
    };
    /** @description Columns or properties to copy to the answers: at most 20 names, repeated in the query or separated by commas. Values are texts up to 1000 characters, numbers, true, false and null; others are refused. Names of own members of the answer and of missing columns are refused. */
    Pass: string[] | null;
    /** @description The condition of the field, by name or title as in `GET /releases/{release}`. `all` adds what the answer would be under each (`by_condition`). By default that of the place, where a raster has it, or the default of the release; in an area a mixture, pixel by pixel. */
    Condition: string | null;
    Area: { unit: components["schemas"]["Unit"]; } | null;
    /** @description The scopes of the key. */
    Scopes: ("advisory" | "history" | "account" | "admin")[];
    /** @description The code of a release, as in answers: it alone answers, also after its replacement. Its country, crop and month apply, and may be left out. For all products: a code of each, separated by commas as in `Advisory-Release`; others have no answer then. */
    Release: string | null;
    /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. By default `eth`; for all products, many points and polygons, the country of the place. With `admin` it is that of the areas. */
    CountryCode: string | null;
    /** @description What distinguishes the points of a call, given back as it was sent. */
    Id: string | number | null;
    /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. By default `eth`; for all products, many points and polygons, the country of the place. */
    PointRequestCountryCode: string | null;
    /** @description What distinguishes the points of a call, given back as it was sent. */
    YieldItemId: string | number;
    /** @description A field that you have saved with `PUT /fields/{collection}`: the collection, a slash, and the id of the field. */
    Field: string;
    /** @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`. */
    Name: string | null;
    /** @description The crop, in any case; `GET /catalog` lists those of a country. By default `wheat`, or the crop of the place's country. */
    Crop: string | null;
    /** @description Null without ranges. */
    Within: {
      /** @description How many had a range. */
      count: number;
      /** @description How many of these lay in it, from 0 to 1. */
      share: number;
    } | null;
    /** @description Where changes are sent: a public `https` address at port 443. Redirects are not followed. */
    Url: string;
    /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area. */
    PolygonRequestCountryCode: string | null;
    /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. */
    Quantiles: number[] | null;
    /** @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. As `YYYY-MM`. None for forage. */
    ReleaseSummaryForecastPeriod: string | null;
    /** @description Any characters, of any script, in any mixture. The most common passwords are refused. */
    Password: string;
    /** @description When it was last replaced, withdrawn or deleted; null where it is published or never was. */
    PublishedTo: string | null;
    /** @description `gone`: the target answered 410. `failing`: deliveries failed for a day. `secret_lost`: the service cannot read the secret any more: renew it. Null while it is active. */
    DisabledReason: "gone" | "failing" | "secret_lost" | null;
    /** @description The code of a published release, as `GET /catalog` has it. */
    TilesetRelease: string;
    /** @description A recovery code, in the place of that of the app. It works once. */
    RecoveryCode: string | null;
    /** @description A collection of fields that you have saved with `PUT /fields/{collection}`. */
    Fields: string;
    /** @description How much of the area has values and had none; at least, where `exact` is false. Null where the releases have the layer on different grids. */
    GainedPercent: number | null;
    /** @description How much of the area had values and has none; at least, where `exact` is false. Null where the releases have the layer on different grids. */
    LostPercent: number | null;
    /** @description Hectare, square metre, are (100 m²), international acre (4,046.8564224 m²), or timad (a quarter of a hectare). Plurals and full names are understood. By default `ha`. */
    Unit: "ha" | "m2" | "are" | "acre" | "timad";
    /** @description True where the release is older than its season, else left out. The source publishes the end of validity; by default it is a year after the forecast month. Demonstration data are never stale. */
    Stale: true;
    /** @description How much of the area has values that differ by more than the threshold. Null where the releases have the layer on different grids. */
    ChangedPercent: number | null;
    /** @description The fields and parameters that the operation does not know, ten at most; left out where there are none. `Prefer: handling=strict` has them refused. */
    Ignored: components["schemas"]["IgnoredName"][];
    /** @description Which input or variety alone is watched, as entries name it; all when left out. */
    Input: string | null;
    /** @description The values that were sent last, or the first ones. Changes are measured from them. None for saved fields, which are compared in two releases. */
    Values: components["schemas"]["WatchedValue"][];
    /** @description True where the release is older than its season, else left out. The source publishes the end of validity; by default it is a year after the forecast month. Demonstration data are never stale. */
    YieldResponseStale: boolean;
    /** @description Which scenario alone is watched; all when left out. */
    SubscriptionRequestScenario: string | null;
    /** @description The request as the endpoint took it: its parameters, and the type, longitudes and latitudes of a polygon. */
    Request: components["schemas"]["PointRequest"] | components["schemas"]["PolygonRequest"];
    /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. */
    AdminSelectionCountryCode: string;
    /** @description A label for the place, for `location.name`. By default `Point`. */
    PointRequestName: string | null;
    /** @description Spearman’s rank correlation of predictions and observations, from -1 to 1. Equal values have the mean of their ranks. Null where all are equal. */
    RankCorrelation: number | null;
    /** @description The columns or properties of `pass`, as they were sent. Missing ones are left out. */
    YieldItemPass: { [key: string]: string | number | boolean | null; };
    /** @description When it was first published; null where it never was. */
    PublishedFrom: string | null;
    /** @description How well the species suits the place: higher is more suitable. The ends of the scale are as published by the source; `range` in `GET /catalog` says between which values a release lies. */
    SuitabilityScore: number;
    /** @description The e-mail address; upper and lower case are the same. */
    Email: string;
    /** @description Null where it is there, or that was not recorded. */
    DeletedAt: string | null;
    /** @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English. */
    YieldResponseForecastPeriod: string;
    /** Format: date-time @description Since when deliveries have failed; null where the last one arrived. The log of the target has the cause. */
    FailingSince: string | null;
    /** @description SHA-256 of the definitions of its layers and of the files that it was loaded from. */
    Checksum: string;
    /** @description Anything, at most 4000 characters as JSON. `name` labels the field in answers, and `id` is its id where the Feature has none. */
    Properties: { [key: string]: unknown; } | null;
    /** @description One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`. */
    YieldResponseProvenance: components["schemas"]["Provenance"][];
    /** @description A label, which is sent along. */
    SubscriptionRequestName: string | null;
    /** @description A bound of that: no more. Null where the releases have the layer on different grids. */
    ChangedPercentMost: number | null;
    /** @description As it was loaded, where that may be a code of SPDX; `other` where it is a text, which `GET /catalog` has. */
    License: string;
    /** @description A bound of that: no less. Null where the releases have the layer on different grids. */
    ChangedPercentLeast: number | null;
    /** @description The id of the field: any text of at most 200 characters, such as a parcel number, or a whole number. Once in a collection. */
    ChangedFieldId: string;
    /** @description Where the request has `skill: true`. Null for demonstration data and with fewer than 30 observations. */
    YieldResponseSkill: components["schemas"]["Skill"] | null;
    /** @description The code that the authenticator app shows: six digits, for 30 seconds. It works once. */
    Totp: string | null;
    /** @description The secret that signs deliveries (Standard Webhooks). It is shown once; it can be renewed. */
    Secret: string;
    /** @description The release that the values were last compared with; null where none answered. */
    SubscriptionRelease: string | null;
    /** @description Where everybody finds it: a page for browsers, and JSON for programs. */
    ShareUrl: string;
    /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
    MaxSegments: number | null;
    /** @description The code of the crop that was answered for; null where the answer is of no crop. */
    YieldResponseCrop: string | null;
    /** Format: uuid @description The id of the key that made it, with which it ends; null where its owner was logged in, as it takes now. */
    MadeBy: string | null;
    /** @description At most 1000 without a token and 20000 with one. */
    Points: components["schemas"]["BatchPoint"][];
    /** @description West, south, east and north in decimal degrees. */
    Extent: number[];
    /** @description True where its rasters were compressed with loss, such as JPEG, else left out: values may differ from the source. */
    Lossy: true;
    /** @description The token of the mail. It works once. */
    Token: string;
    /** @description Null where there is no value: see `error`. */
    FertilizerData: components["schemas"]["FertilizerEntry"][] | null;
    /** @description Whether the answer has the pixels and sources of its values (`provenance`), as with `Prefer: return=provenance`. */
    PointRequestProvenance: boolean | null;
    /** Format: date-time @description When something arrived last; null where nothing did. */
    DeliveredAt: string | null;
    /** @description Null where there is no value: see `error`. */
    ForageData: components["schemas"]["ForageEntry"][] | null;
    /** @description Null where there is no value: see `error`. */
    YieldData: components["schemas"]["YieldEntry"][] | null;
    LoginRequestPassword: string;
    /** @description The same in percent of the mean before; null where that is 0 or missing. */
    ChangePercent: number | null;
    /** @description Null where there is no value: see `error`. */
    IsfmData: components["schemas"]["IsfmEntry"][] | null;
    /** @description The input or variety; null where layers differ in their scenario alone. */
    FieldChangeInput: string | null;
    /** @description Sent where the request left `country_code` out: the country is the one that the place lies in. */
    CountrySource: "place";
    /** @description The `cursor` of the next page; null where this is the last one. */
    NextCursor: string | null;
    /** @description The format of the answer. It wins over `Accept`. */
    Format: "json" | "ndjson" | "csv" | "geojson" | "dhis2" | null;
    /** @description The mean, weighted by area; null where there was no value. */
    MeanBefore: number | null;
    /** @description Brier score of the three scenarios, from 0 to 2; 0 is best. Null without odds. */
    Brier: number | null;
    /** @description Answer with a histogram of so many bins, or classes. */
    Histogram: number | null;
    /** @description The code of the release that answered, as in `GET /catalog`. */
    YieldResponseRelease: string;
    /** @description The last day (UTC) of its season; null where it has none. */
    ValidUntil: string | null;
    /** Format: date-time @description Null where it does not expire. */
    ExpiresAt: string | null;
    /** @description The id of a collection: a product and a country, as `GET /stac` links them. */
    StacCollectionId: string;
    /** Format: uuid @description The id of this answer in the history of the caller. For callers with a valid token. */
    HistoryId: string;
    /** @description Ranked probability skill score: 1 is best, 0 as good as a third each. */
    Rpss: number | null;
    /** @description Of a polygon that is not valid: its name, if it has one. */
    PolygonYieldItemSent: { name?: string; };
    /** @description The mean of predicted minus observed: above 0 where too much is predicted. */
    Bias: number;
    /** @description The same month as `YYYY-MM`, as requests take it in `forecast_period`. */
    ForecastMonth: string;
    /** @description From the smallest values to the largest. */
    PolygonYieldEntryHistogram: components["schemas"]["HistogramBin"][];
    /** @description Whether the answer says how well such forecasts have done at the place (`skill`). */
    PointRequestSkill: boolean | null;
    /** @description The `cursor` of the next page; null where this is the last one. */
    ReleaseListNextCursor: string | null;
    /** Format: date-time @description Accurate to a minute. */
    LastUsedAt: string | null;
    /** @description In the order in which they were asked for. */
    PolygonYieldEntryQuantiles: components["schemas"]["Quantile"][];
    /** Format: date-time @description In UTC, to the millisecond. */
    CreatedAt: string;
    /** @description Of a band about layers. */
    Role: "probability" | "low" | "high" | "stddev" | "landscape" | "share";
    /** @description Whether one of them is demonstration data. Left out where the service has forgotten it. */
    Synthetic: boolean;
    /** @description The mean; null where there is no value. */
    MeanAfter: number | null;
    /** @description The label; null where it has none. */
    ChangedFieldName: string | null;
    /** @description Longitude in decimal degrees (WGS 84). */
    Lng: number;
    /** @description The mean after minus the mean before. */
    Change: number | null;
    /** @description Null where the product needs none. */
    SubscriptionCrop: string | null;
    /** @description Counts the releases for the same product, country, crop and month. */
    Version: number;
    /** @description Null where the product has none. */
    FieldChangeScenario: string | null;
    /** @description Of which product values are watched. */
    Product: "yield" | "fertilizer" | "isfm" | "forage";
    /** @description An ISO 4217 code. Nothing is converted. */
    Currency: string;
    /** @description Latitude in decimal degrees (WGS 84). */
    Lat: number;
    /** @description The standard deviation of the population, each pixel weighed by its area inside. */
    Stddev: number;
    /** @description The root of the mean square of these differences. */
    Rmse: number;
    /** @description The feedback of the caller. */
    YieldHistoryItemFeedback: components["schemas"]["Feedback"] | null;
    /** @description The recommended rate, in metric tons per hectare. 0 is a recommendation, too. */
    RateTonsHa: number;
    /** @description How much of the area had values. */
    CoveredBeforePercent: number;
    /** @description How much of the area has values. */
    CoveredAfterPercent: number;
    /** @description The recommended rate, in kilograms per hectare. 0 is a recommendation, too. */
    RateKgHa: number;
    /** @description Whether the release is demonstration data, made by a formula. Not advice. */
    YieldResponseSynthetic: boolean;
    /** @description As `YYYY-MM`; null for the newest at any time. */
    SubscriptionForecastMonth: string | null;
    /** @description Length of their ids, shapes and properties. */
    Bytes: number;
    /** @description The product of a release. */
    CatalogProductProduct: "yield" | "fertilizer" | "isfm" | "forage";
    /** @description The releases that answered, as they were then. */
    Releases: string[];
    /** @description 1 is useless, 5 is just right. */
    Rating: number;
    /** @description How much of the polygon’s area has values. */
    CoveredPercent: number;
    /** @description How much: at most 1000000 ha. */
    Value: number;
    /** @description The mean of predicted minus observed, of the most likely scenario. */
    AreaSkillBias: number;
    /** @description The code of the country that was answered for. */
    YieldResponseCountryCode: string;
    /** @description Of the values, and of an absolute threshold. */
    FieldChangesUnit: string;
    /** @description The stable code of the area, for requests. */
    Code: string;
    /** @description The largest of them. Pixels that it only touches do not count. */
    Max: number;
    /** @description The label; empty where none was given. */
    SubscriptionName: string;
    /** @description The proceeds of the harvest. To the hundredth, in `currency`. */
    Return: number;
    /** @description Of the field, where it is for one. */
    ReleaseLayerCondition: string;
    /** @description The smallest value of the pixels that the polygon overlaps. */
    Min: number;
    /** @description Its product. */
    ReleaseSummaryProduct: "yield" | "fertilizer" | "isfm" | "forage";
    /** @description 0 is the country. */
    Level: number;
    /** @description The cost of all inputs. To the hundredth, in `currency`. */
    Cost: number;
    /** @description The mean of their sizes. */
    Mae: number;
    /** @description Hectares, on the WGS 84 ellipsoid. */
    AreaHa: number;
    /** @description Whether changes are told. */
    Status: "active" | "disabled";
    /** @description Always `ok`; anything else is an error. */
    HealthStatus: "ok";
    /** @description How many observations. */
    Count: number;
    /** @description How many fields it has. */
    FieldCollectionFields: number;
    /** @description The beginning of the key. */
    Hint: string;
    /** @description With `lat`, a point inside. */
    ChangedFieldLng: number;
    /** @description With `lng`, a point inside. */
    ChangedFieldLat: number;
    /** @description The predicted yield, in kilograms per hectare. */
    YieldKgHa: number;
    /** @description The kind of place. */
    Type: "point" | "polygon";
    /** @description The same as `YYYY-MM`. */
    YieldHistoryItemForecastMonth: string;
    /** @description None for forage. */
    YieldHistoryItemCrop: string | null;
    /** @description Those that are on. */
    Extensions: string[];
    /** @description The stable code of the area, for requests. */
    AdminAreaCode: string;
    Source: string;
    /** @description Requests answered 4xx or 5xx. */
    Errors: number;
    Expected: components["schemas"]["FertilizerExpected"][];
    /** @description Null for all. */
    SubscriptionInput: string | null;
    /** @description For example `Compost` or `Vermicompost`. */
    IsfmType: string;
    Dhis2: components["schemas"]["Dhis2Mapping"] | null;
    /** @description The error, as a sentence for people. */
    ErrorError: string;
    YieldResponseExpected: components["schemas"]["YieldExpected"][];
    IsfmResponseExpected: components["schemas"]["IsfmExpected"][];
    Providers: components["schemas"]["StacProvider"][];
    /** @description How many observations. */
    OddsScoreCount: number;
    Details: components["schemas"]["ErrorDetail"][];
    /** @description The mean of the sizes. */
    AreaSkillMae: number;
    ProvenanceLayerScenario: string | null;
    CatalogReleaseCrop: string | null;
    /** @description Always null: there are never more. */
    SessionListNextCursor: null;
    Links: components["schemas"]["StacLink"][];
    LayerChangeInput: string | null;
    SubscriptionUrl: string;
    /** @description For example `Urea` or `DAP`. */
    FertilizerType: string;
  };
  responses: {
    /**
     * @description `MALFORMED_REQUEST`: The request is not HTTP, has no host or two, or an unreadable URL.
     *
     *     `REQUEST_TIMEOUT`: The request did not arrive in time.
     *
     *     `HEADERS_TOO_LARGE`: The URL or the headers are larger than the limit.
     *
     *     `INTERNAL`: Internal error; the request may be valid.
     *
     *     `OVERLOADED`: The service is busy; try again after `Retry-After` seconds.
     *
     *     `DATABASE_UNAVAILABLE`: The database does not answer; try again later.
     *
     *     `DATABASE_READ_ONLY`: The database is read-only at present; requests that only read are answered.
     */
    AnyError: { content: { "application/json": components["schemas"]["Error"]; }; };
    /** @description The answer is the one that `If-None-Match` names. */
    NotModified: { content?: never; };
  };
  parameters: {
    /** @description The `ETag` of an earlier answer: an unchanged answer is 304. */
    IfNoneMatch: string;
    /** @description Preferences (RFC 7240), separated by commas. `handling=strict` refuses unknown fields and parameters. `history=none` stores nothing in the history. At a point, `server-timing` measures the call. `Preference-Applied` lists the applied ones. */
    Prefer: string;
    /** @description A text that names this request within the account or the key, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. A repetition within a day gets the same answer, with `Idempotency-Replayed: true`, and changes nothing. */
    IdempotencyKey: string;
    /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. Otherwise the service makes one. */
    XRequestId: string;
    /** @description The month of an older forecast, such as `2026-07`, `July 2026` or `jul 2026`. By default the newest. */
    ForecastPeriod: string;
    /** @description Columns or properties to copy to the answers: at most 20 names, repeated in the query or separated by commas. Values are texts up to 1000 characters, numbers, true, false and null; others are refused. Names of own members of the answer and of missing columns are refused. */
    Pass: string[];
    /** @description The code of a release, as in answers: it alone answers, also after its replacement. Its country, crop and month apply, and may be left out. For all products: a code of each, separated by commas as in `Advisory-Release`; others have no answer then. */
    Release: string;
    /** @description The condition of the field, by name or title as in `GET /releases/{release}`. `all` adds what the answer would be under each (`by_condition`). By default that of the place, where a raster has it, or the default of the release; in an area a mixture, pixel by pixel. */
    Condition: string;
    /** @description Which of its layers, from 1, or `most-likely`: the season with the greatest odds. */
    Layer: number | "most-likely";
    /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. By default `eth`; for all products, many points and polygons, the country of the place. With `admin` it is that of the areas. */
    CountryCode: string;
    /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. By default `eth`; for all products, many points and polygons, the country of the place. */
    YieldAtPointCountryCode: string;
    /** @description The currency and the prices of inputs, by the kilogram or, with `/bag`, by the bag, such as `ETB Urea:2250/bag,Compost:4.5`. */
    Prices: string;
    /** @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`. */
    Name: string;
    /** @description The crop, in any case; `GET /catalog` lists those of a country. By default `wheat`, or the crop of the place's country. */
    Crop: string;
    /** @description An area by code or name (`Fiche, Oromia`), a position (`9.5 38.5`), or your field (`collection/id`). */
    Place: string;
    /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. */
    Quantiles: number[];
    /** @description How large all fields are, such as `2.5 ha`, or where each point says how large its own is: `from:area_ha ha`. */
    Area: string;
    /** @description The code of a published release, as `GET /catalog` has it. */
    ListLayersRelease: string;
    /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area. */
    YieldInPolygonCountryCode: string;
    /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. */
    ScenarioWeights: string;
    /** @description The currency and the price of a kilogram of the harvest, such as `ETB 38.5`. */
    ProducePrice: string;
    /** @description The code of the area, in any case, as `GET /places` finds it. */
    GetPackPageArea: string;
    /** @description How values are cut into classes: such that each has about as much of the area, or such that all are equally wide. */
    Cut: "quantiles" | "equal";
    /** @description A label for the place, for `location.name`. By default `Point`. */
    YieldAtPointName: string;
    /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. */
    Bags: string;
    /** @description The money for the inputs of one product, in the currency of `prices`. Refused where inputs of two products have prices. */
    Budget: number;
    /** @description In which unit the area is given as well, such as `timad`. */
    YieldInPolygonArea: string;
    /** @description The name of the collection: letters, digits and `.`, `_`, `~`, `-`, at most 100 of them. */
    Collection: string;
    /** @description The code of the country, in any case. */
    Country: string;
    /** @description How large the field is, such as `2.5 ha`. */
    GetYieldAtPointArea: string;
    /** @description Only this country, in any case. */
    ListReleasesCountryCode: string;
    /** @description Only this crop, in any case. */
    ListReleasesCrop: string;
    /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
    MaxSegments: number;
    /** @description Whether the answer has the pixels and sources of its values (`provenance`), as with `Prefer: return=provenance`. */
    Provenance: boolean;
    /** @description Where to go on: the `next_cursor` of the page before, with the same other parameters. */
    Cursor: string;
    /** @description Of areas with the same code on several levels, this one; without it the highest. */
    Level: number;
    /** @description The format of the answer; by default what `Accept` prefers, or JSON. */
    Format: "json" | "csv" | "text";
    /** @description The format of the answer. It wins over `Accept`. */
    YieldInPolygonsFormat: "json" | "ndjson" | "csv" | "geojson" | "dhis2";
    /** @description The format of the answer; by default what `Accept` prefers, or JSON. */
    GetEverythingAtPointFormat: "json" | "text";
    /** @description The format of the answer. It wins over `Accept`. */
    GetFieldsFormat: "json" | "ndjson" | "csv" | "geojson";
    /** @description The language of a text; by default what `Accept-Language` prefers, or `en`. */
    Lang: "en";
    /** @description The id of a collection: a product and a country, as `GET /stac` links them. */
    GetStacCollectionCollection: string;
    /** @description Whether to give the nutrients of products whose composition the service knows. */
    Nutrients: boolean;
    /** @description Whether the answer says how well such forecasts have done at the place (`skill`). */
    Skill: boolean;
    /** @description Answer with a histogram of so many bins, or classes. */
    Histogram: number;
    /** @description Only this product. */
    Product: "yield" | "fertilizer" | "isfm" | "forage";
    /** @description Longitude in decimal degrees (WGS 84). */
    Lng: number;
    /** @description Longitude in decimal degrees (WGS 84). */
    GetYieldAtPointLng: number;
    /** @description The level of the area, 0 for the country. */
    GetYieldAtPlaceLevel: number;
    /** @description Latitude in decimal degrees (WGS 84). */
    Lat: number;
    /** @description Latitude in decimal degrees (WGS 84). */
    GetYieldAtPointLat: number;
    /** @description The code of a release. */
    GetReleaseRelease: string;
    /** @description The id of the subscription. */
    Id: string;
    /** @description The id of the item. */
    GetHistoryItemId: string;
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  getYieldAtPoint: {
    parameters: {
      query: {
        lat: components["parameters"]["GetYieldAtPointLat"];
        lng: components["parameters"]["GetYieldAtPointLng"];
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        provenance?: components["parameters"]["Provenance"];
        skill?: components["parameters"]["Skill"];
        area?: components["parameters"]["GetYieldAtPointArea"];
        bags?: components["parameters"]["Bags"];
        prices?: components["parameters"]["Prices"];
        budget?: components["parameters"]["Budget"];
        produce_price?: components["parameters"]["ProducePrice"];
        scenario_weights?: components["parameters"]["ScenarioWeights"];
        nutrients?: components["parameters"]["Nutrients"];
        max_segments?: components["parameters"]["MaxSegments"];
        format?: components["parameters"]["Format"];
        lang?: components["parameters"]["Lang"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["YieldResponse"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  yieldAtPoint: {
    parameters: {
      query?: {
        lat?: components["parameters"]["Lat"];
        lng?: components["parameters"]["Lng"];
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["PointRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["YieldResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getFertilizerAtPoint: {
    parameters: operations["getYieldAtPoint"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["FertilizerResponse"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  fertilizerAtPoint: {
    parameters: operations["yieldAtPoint"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PointRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["FertilizerResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getIsfmAtPoint: {
    parameters: operations["getYieldAtPoint"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["IsfmResponse"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  isfmAtPoint: {
    parameters: operations["yieldAtPoint"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PointRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["IsfmResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getForageAtPoint: {
    parameters: {
      query: {
        lat: components["parameters"]["GetYieldAtPointLat"];
        lng: components["parameters"]["GetYieldAtPointLng"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        provenance?: components["parameters"]["Provenance"];
        skill?: components["parameters"]["Skill"];
        max_segments?: components["parameters"]["MaxSegments"];
        format?: components["parameters"]["Format"];
        lang?: components["parameters"]["Lang"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["ForageResponse"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  forageAtPoint: {
    parameters: {
      query?: {
        lat?: components["parameters"]["Lat"];
        lng?: components["parameters"]["Lng"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["ForagePointRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["ForageResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getEverythingAtPoint: {
    parameters: {
      query: {
        lat: components["parameters"]["GetYieldAtPointLat"];
        lng: components["parameters"]["GetYieldAtPointLng"];
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        provenance?: components["parameters"]["Provenance"];
        skill?: components["parameters"]["Skill"];
        area?: components["parameters"]["GetYieldAtPointArea"];
        bags?: components["parameters"]["Bags"];
        prices?: components["parameters"]["Prices"];
        budget?: components["parameters"]["Budget"];
        produce_price?: components["parameters"]["ProducePrice"];
        scenario_weights?: components["parameters"]["ScenarioWeights"];
        nutrients?: components["parameters"]["Nutrients"];
        max_segments?: components["parameters"]["MaxSegments"];
        format?: components["parameters"]["GetEverythingAtPointFormat"];
        lang?: components["parameters"]["Lang"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["EverythingResponse"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  everythingAtPoint: {
    parameters: operations["yieldAtPoint"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PointRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["EverythingResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  yieldAtPoints: {
    parameters: {
      query?: {
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        pass?: components["parameters"]["Pass"];
        area?: components["parameters"]["Area"];
        bags?: components["parameters"]["Bags"];
        prices?: components["parameters"]["Prices"];
        budget?: components["parameters"]["Budget"];
        produce_price?: components["parameters"]["ProducePrice"];
        scenario_weights?: components["parameters"]["ScenarioWeights"];
        nutrients?: components["parameters"]["Nutrients"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["PointsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["YieldPointsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  fertilizerAtPoints: {
    parameters: operations["yieldAtPoints"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PointsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["FertilizerPointsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  isfmAtPoints: {
    parameters: operations["yieldAtPoints"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PointsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["IsfmPointsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  forageAtPoints: {
    parameters: {
      query?: {
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        pass?: components["parameters"]["Pass"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["ForagePointsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["ForagePointsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getYieldAtPlace: {
    parameters: {
      query: {
        place: components["parameters"]["Place"];
        level?: components["parameters"]["GetYieldAtPlaceLevel"];
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        skill?: components["parameters"]["Skill"];
        max_segments?: components["parameters"]["MaxSegments"];
        format?: components["parameters"]["Format"];
        lang?: components["parameters"]["Lang"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["PolygonYieldResponse"] | components["schemas"]["YieldResponse"];
        };
      };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  yieldInPolygon: {
    parameters: {
      query?: {
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["YieldInPolygonCountryCode"];
        name?: components["parameters"]["Name"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        skill?: components["parameters"]["Skill"];
        quantiles?: components["parameters"]["Quantiles"];
        histogram?: components["parameters"]["Histogram"];
        area?: components["parameters"]["YieldInPolygonArea"];
        bags?: components["parameters"]["Bags"];
        prices?: components["parameters"]["Prices"];
        budget?: components["parameters"]["Budget"];
        produce_price?: components["parameters"]["ProducePrice"];
        scenario_weights?: components["parameters"]["ScenarioWeights"];
        nutrients?: components["parameters"]["Nutrients"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["PolygonRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["PolygonYieldResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getFertilizerAtPlace: {
    parameters: operations["getYieldAtPlace"]["parameters"];
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["PolygonFertilizerResponse"] | components["schemas"]["FertilizerResponse"];
        };
      };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  fertilizerInPolygon: {
    parameters: operations["yieldInPolygon"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PolygonRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["PolygonFertilizerResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getIsfmAtPlace: {
    parameters: operations["getYieldAtPlace"]["parameters"];
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["PolygonIsfmResponse"] | components["schemas"]["IsfmResponse"];
        };
      };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  isfmInPolygon: {
    parameters: operations["yieldInPolygon"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PolygonRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["PolygonIsfmResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getForageAtPlace: {
    parameters: {
      query: {
        place: components["parameters"]["Place"];
        level?: components["parameters"]["GetYieldAtPlaceLevel"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        skill?: components["parameters"]["Skill"];
        max_segments?: components["parameters"]["MaxSegments"];
        format?: components["parameters"]["Format"];
        lang?: components["parameters"]["Lang"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["PolygonForageResponse"] | components["schemas"]["ForageResponse"];
        };
      };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  forageInPolygon: {
    parameters: {
      query?: {
        country_code?: components["parameters"]["YieldInPolygonCountryCode"];
        name?: components["parameters"]["Name"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        skill?: components["parameters"]["Skill"];
        quantiles?: components["parameters"]["Quantiles"];
        histogram?: components["parameters"]["Histogram"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["ForagePolygonRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["PolygonForageResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  yieldInPolygons: {
    parameters: {
      query?: {
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["CountryCode"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        quantiles?: components["parameters"]["Quantiles"];
        histogram?: components["parameters"]["Histogram"];
        area?: components["parameters"]["YieldInPolygonArea"];
        bags?: components["parameters"]["Bags"];
        prices?: components["parameters"]["Prices"];
        budget?: components["parameters"]["Budget"];
        produce_price?: components["parameters"]["ProducePrice"];
        scenario_weights?: components["parameters"]["ScenarioWeights"];
        nutrients?: components["parameters"]["Nutrients"];
        format?: components["parameters"]["YieldInPolygonsFormat"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["PolygonsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["YieldPolygonsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  fertilizerInPolygons: {
    parameters: operations["yieldInPolygons"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PolygonsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["FertilizerPolygonsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  isfmInPolygons: {
    parameters: operations["yieldInPolygons"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["PolygonsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["IsfmPolygonsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  forageInPolygons: {
    parameters: {
      query?: {
        country_code?: components["parameters"]["CountryCode"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        quantiles?: components["parameters"]["Quantiles"];
        histogram?: components["parameters"]["Histogram"];
        format?: components["parameters"]["YieldInPolygonsFormat"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["ForagePolygonsRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["ForagePolygonsResponse"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getEverythingAtPlace: {
    parameters: {
      query: {
        place: components["parameters"]["Place"];
        level?: components["parameters"]["GetYieldAtPlaceLevel"];
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["YieldAtPointCountryCode"];
        name?: components["parameters"]["YieldAtPointName"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        skill?: components["parameters"]["Skill"];
        max_segments?: components["parameters"]["MaxSegments"];
        format?: components["parameters"]["GetEverythingAtPointFormat"];
        lang?: components["parameters"]["Lang"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["EverythingResponse"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  validateLocation: {
    parameters: {
      query?: {
        lat?: components["parameters"]["Lat"];
        lng?: components["parameters"]["Lng"];
        country_code?: string;
        crop?: string;
      };
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
    };
    requestBody: { content: { "application/json": components["schemas"]["LocationRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["LocationValidation"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  listAdminAreas: {
    parameters: {
      query: {
        admin0: string;
        level: number;
        parent?: string;
        geometry?: "none" | "simplified" | "full";
        format?: "json" | "geojson";
        limit?: number;
        cursor?: components["parameters"]["Cursor"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["AdminAreaList"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  searchPlaces: {
    parameters: {
      query: { name: string; country_code?: string; level?: number; limit?: number; };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["FoundAreas"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getCatalog: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["Catalog"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  listReleases: {
    parameters: {
      query?: {
        product?: components["parameters"]["Product"];
        country_code?: components["parameters"]["ListReleasesCountryCode"];
        crop?: components["parameters"]["ListReleasesCrop"];
        state?: "published" | "replaced" | "unpublished" | "deleted" | "incomplete";
        limit?: number;
        cursor?: components["parameters"]["Cursor"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["ReleaseList"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getRelease: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { release: components["parameters"]["GetReleaseRelease"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["ReleaseDescription"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  listLayers: {
    parameters: {
      query?: { cut?: components["parameters"]["Cut"]; };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { release: components["parameters"]["ListLayersRelease"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["LayerList"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getTileset: {
    parameters: {
      query?: { cut?: components["parameters"]["Cut"]; };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: {
        release: components["parameters"]["ListLayersRelease"];
        layer: components["parameters"]["Layer"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["Tileset"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getTile: {
    parameters: {
      query?: { cut?: components["parameters"]["Cut"]; };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: {
        release: components["parameters"]["ListLayersRelease"];
        layer: components["parameters"]["Layer"];
        z: number;
        x: number;
        y: number;
      };
    };
    responses: {
      200: { content: { "image/png": components["schemas"]["Picture"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getGeotiff: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { release: string; layer: number; };
    };
    responses: {
      200: { content: { "image/tiff": components["schemas"]["GeoTiff"]; }; };
      206: { content: { "image/tiff": components["schemas"]["GeoTiff"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getStacCatalog: {
    parameters: operations["getCatalog"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["StacCatalog"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getStacCollection: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { collection: components["parameters"]["GetStacCollectionCollection"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["StacCollection"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getStacItem: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { collection: components["parameters"]["GetStacCollectionCollection"]; item: string; };
    };
    responses: {
      200: { content: { "application/geo+json": components["schemas"]["StacItem"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getCoverage: {
    parameters: {
      query?: {
        level?: number;
        country_code?: string;
        area?: string;
        product?: components["parameters"]["Product"];
        crop?: components["parameters"]["ListReleasesCrop"];
        release?: string;
        limit?: number;
        cursor?: components["parameters"]["Cursor"];
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["CoverageList"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  compareReleases: {
    parameters: {
      query?: { level?: number; threshold?: number; exact?: "true" | "false"; format?: "json" | "csv"; };
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { a: string; b: string; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["ReleaseChanges"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  listChanges: {
    parameters: {
      query?: { since?: number; limit?: number; format?: "json" | "atom"; };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["ChangeFeed"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getPackPage: {
    parameters: {
      query?: { level?: components["parameters"]["Level"]; };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: {
        country: components["parameters"]["Country"];
        area: components["parameters"]["GetPackPageArea"];
      };
    };
    responses: {
      200: { content: { "text/html": components["schemas"]["PackPage"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getPackTable: {
    parameters: operations["getPackPage"]["parameters"];
    responses: {
      200: { content: { "text/csv": components["schemas"]["PackTable"]; }; };
      206: { content: { "text/csv": components["schemas"]["PackTable"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getPackParquet: {
    parameters: operations["getPackPage"]["parameters"];
    responses: {
      200: { content: { "application/vnd.apache.parquet": components["schemas"]["PackParquet"]; }; };
      206: { content: { "application/vnd.apache.parquet": components["schemas"]["PackParquet"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getPackTiles: {
    parameters: {
      query?: {
        level?: components["parameters"]["Level"];
        release?: string;
        layer?: number | "most-likely";
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: {
        country: components["parameters"]["Country"];
        area: components["parameters"]["GetPackPageArea"];
      };
    };
    responses: {
      200: { content: { "application/vnd.sqlite3": components["schemas"]["PackTiles"]; }; };
      206: { content: { "application/vnd.sqlite3": components["schemas"]["PackTiles"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getReleaseStatement: {
    parameters: operations["getRelease"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["ReleaseStatement"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getSigningKeys: {
    parameters: operations["getCatalog"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["KeySet"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getScorecard: {
    parameters: {
      query?: { level?: number; };
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { code: string; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["Scorecard"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  listSubscriptions: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["SubscriptionList"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  createSubscription: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
    };
    requestBody: { content: { "application/json": components["schemas"]["SubscriptionRequest"]; }; };
    responses: {
      201: { content: { "application/json": components["schemas"]["NewSubscription"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getSubscription: {
    parameters: {
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { id: components["parameters"]["Id"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["Subscription"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  deleteSubscription: {
    parameters: operations["getSubscription"]["parameters"];
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  enableSubscription: {
    parameters: operations["getSubscription"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["Subscription"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  renewSubscriptionSecret: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { id: components["parameters"]["Id"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["WebhookSecret"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  testSubscription: {
    parameters: operations["getSubscription"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["WebhookTest"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getFields: {
    parameters: {
      query?: { format?: components["parameters"]["GetFieldsFormat"]; };
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { collection: components["parameters"]["Collection"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["CollectionOfFields"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  putFields: {
    parameters: {
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { collection: components["parameters"]["Collection"]; };
    };
    requestBody: { content: { "application/json": components["schemas"]["FieldFeatures"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["KeptFields"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  deleteFields: {
    parameters: operations["putFields"]["parameters"];
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  getAdviceOnFields: {
    parameters: {
      query: {
        product: "yield" | "fertilizer" | "isfm" | "forage";
        crop?: components["parameters"]["Crop"];
        country_code?: components["parameters"]["CountryCode"];
        forecast_period?: components["parameters"]["ForecastPeriod"];
        release?: components["parameters"]["Release"];
        condition?: components["parameters"]["Condition"];
        quantiles?: components["parameters"]["Quantiles"];
        histogram?: components["parameters"]["Histogram"];
        area?: components["parameters"]["YieldInPolygonArea"];
        bags?: components["parameters"]["Bags"];
        prices?: components["parameters"]["Prices"];
        budget?: components["parameters"]["Budget"];
        produce_price?: components["parameters"]["ProducePrice"];
        scenario_weights?: components["parameters"]["ScenarioWeights"];
        nutrients?: components["parameters"]["Nutrients"];
        format?: components["parameters"]["YieldInPolygonsFormat"];
      };
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { collection: components["parameters"]["Collection"]; };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["YieldPolygonsResponse"] | components["schemas"]["FertilizerPolygonsResponse"] | components["schemas"]["IsfmPolygonsResponse"] | components["schemas"]["ForagePolygonsResponse"];
        };
      };
      default: components["responses"]["AnyError"];
    };
  };
  getFieldChanges: {
    parameters: {
      query: {
        format?: components["parameters"]["GetFieldsFormat"];
        since: string;
        release?: string;
        threshold?: number;
        threshold_kind?: "relative" | "absolute";
        input?: string;
        scenario?: string;
      };
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { collection: components["parameters"]["Collection"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["FieldChanges"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  listFieldCollections: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["FieldCollections"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  listHistory: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: components["parameters"]["Cursor"];
        product?: "yield" | "fertilizer" | "isfm" | "forage" | "all";
        kind?: "point" | "polygon";
        all?: "true" | "false";
        country_code?: components["parameters"]["ListReleasesCountryCode"];
        from?: string;
        to?: string;
      };
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["HistoryList"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getHistoryItem: {
    parameters: {
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { id: components["parameters"]["GetHistoryItemId"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["HistoryItem"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  deleteHistoryItem: {
    parameters: operations["getHistoryItem"]["parameters"];
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  giveFeedback: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { id: components["parameters"]["GetHistoryItemId"]; };
    };
    requestBody: { content: { "application/json": components["schemas"]["FeedbackRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["Feedback"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getStats: {
    parameters: {
      query?: { from?: string; to?: string; scope?: "own" | "all"; };
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["Stats"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  listSlowCalls: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["SlowCalls"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getShare: {
    parameters: operations["getHistoryItem"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["Share"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  shareHistoryItem: {
    parameters: operations["getHistoryItem"]["parameters"];
    responses: {
      200: { content: { "application/json": components["schemas"]["Share"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  unshareHistoryItem: {
    parameters: operations["getHistoryItem"]["parameters"];
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  getCitation: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["XRequestId"];
      };
      path: { id: string; };
    };
    responses: {
      200: { content: { "application/json": components["schemas"]["Citation"]; }; };
      304: components["responses"]["NotModified"];
      default: components["responses"]["AnyError"];
    };
  };
  getServiceLinks: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["ServiceLinks"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getLiveness: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["Health"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getReadiness: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["Readiness"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  getProfile: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["UserProfile"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  deleteProfile: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["DeletionReport"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  changeProfile: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["ProfileChanges"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["UserProfile"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  register: {
    parameters: operations["createSubscription"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["RegisterRequest"]; }; };
    responses: {
      201: { content: { "application/json": components["schemas"]["UserProfile"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  login: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["LoginRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["Tokens"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  refresh: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["RefreshRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["Tokens"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  changePassword: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["PasswordChange"]; }; };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  reauthenticate: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["Reauthentication"]; }; };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  logout: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  listSessions: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["SessionList"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  endOtherSessions: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  endSession: {
    parameters: {
      header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; };
      path: { id: string; };
    };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  forgotPassword: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["MailRequest"]; }; };
    responses: { 202: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  resendConfirmation: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["MailRequest"]; }; };
    responses: { 202: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  resetPassword: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["PasswordReset"]; }; };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  confirmEmail: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["EmailConfirmation"]; }; };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  listKeys: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["ApiKeyList"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  createKey: {
    parameters: operations["createSubscription"]["parameters"];
    requestBody: { content: { "application/json": components["schemas"]["ApiKeyRequest"]; }; };
    responses: {
      201: { content: { "application/json": components["schemas"]["NewApiKey"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  deleteKey: {
    parameters: operations["endSession"]["parameters"];
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
  getTwoFactor: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["TwoFactorStatus"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  beginTwoFactor: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["TwoFactorRequest"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["TwoFactorSecret"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  confirmTwoFactor: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["TwoFactorConfirmation"]; }; };
    responses: {
      200: { content: { "application/json": components["schemas"]["RecoveryCodes"]; }; };
      default: components["responses"]["AnyError"];
    };
  };
  disableTwoFactor: {
    parameters: { header?: { "X-Request-Id"?: components["parameters"]["XRequestId"]; }; };
    requestBody: { content: { "application/json": components["schemas"]["TwoFactorRemoval"]; }; };
    responses: { 204: { content?: never; }; default: components["responses"]["AnyError"]; };
  };
}
