// Written by `npm run gen` from openapi.yaml: change the routes, not this.

export interface paths {
    "/advisory/yield/point": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Predicted yield at a point, to be cached */
        get: operations["getYieldAtPoint"];
        put?: never;
        /** Predicted yield at a point */
        post: operations["yieldAtPoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/fertilizer/point": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Fertilizer rates at a point, to be cached */
        get: operations["getFertilizerAtPoint"];
        put?: never;
        /** Fertilizer rates at a point */
        post: operations["fertilizerAtPoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/isfm/point": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Organic inputs (ISFM) at a point, to be cached */
        get: operations["getIsfmAtPoint"];
        put?: never;
        /** Organic inputs (ISFM) at a point */
        post: operations["isfmAtPoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/forage/point": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Forage suitability at a point, to be cached */
        get: operations["getForageAtPoint"];
        put?: never;
        /** Forage suitability at a point */
        post: operations["forageAtPoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/point": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything for a point, to be cached */
        get: operations["getEverythingAtPoint"];
        put?: never;
        /** Everything for a point */
        post: operations["everythingAtPoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/yield/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Predicted yields at many points */
        post: operations["yieldAtPoints"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/fertilizer/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fertilizer rates at many points */
        post: operations["fertilizerAtPoints"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/isfm/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Organic inputs (ISFM) at many points */
        post: operations["isfmAtPoints"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/forage/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forage suitability at many points */
        post: operations["forageAtPoints"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/yield": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Predicted yield in a polygon */
        post: operations["yieldInPolygon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/fertilizer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fertilizer rates in a polygon */
        post: operations["fertilizerInPolygon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/isfm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Organic inputs (ISFM) in a polygon */
        post: operations["isfmInPolygon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/forage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forage suitability in a polygon */
        post: operations["forageInPolygon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/yield/polygons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Predicted yields in many polygons */
        post: operations["yieldInPolygons"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/fertilizer/polygons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fertilizer rates in many polygons */
        post: operations["fertilizerInPolygons"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/isfm/polygons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Organic inputs (ISFM) in many polygons */
        post: operations["isfmInPolygons"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/advisory/forage/polygons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forage suitability in many polygons */
        post: operations["forageInPolygons"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/coverage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is covered, and why not */
        get: operations["getCoverage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The own subscriptions */
        get: operations["listSubscriptions"];
        put?: never;
        /** Be told when values at a place change */
        post: operations["createSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An own subscription */
        get: operations["getSubscription"];
        put?: never;
        post?: never;
        /** Delete an own subscription */
        delete: operations["deleteSubscription"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enable a subscription again */
        post: operations["enableSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Renew the secret of a subscription */
        post: operations["renewSubscriptionSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validate_location": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Where a point lies, and what is known there */
        post: operations["validateLocation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Administrative areas of a country */
        get: operations["listAdminAreas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is offered and published */
        get: operations["getCatalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Releases, now and before */
        get: operations["listReleases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases/{release}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A release */
        get: operations["getRelease"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases/{a}/diff/{b}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What changes from one release to another */
        get: operations["compareReleases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What has changed */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases/{code}/scorecard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How well a release has predicted what was observed */
        get: operations["getScorecard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases/{release}/layers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The layers of a release as maps */
        get: operations["listLayers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases/{release}/layers/{layer}/tiles.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A layer of a release as a map */
        get: operations["getTileset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases/{release}/layers/{layer}/tiles/{z}/{x}/{y}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A tile of the map of a layer */
        get: operations["getTile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/releases/{release}/layers/{layer}.tif": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A layer of a release as a GeoTIFF */
        get: operations["getGeotiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stac": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is published, as a STAC catalog */
        get: operations["getStacCatalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stac/collections/{collection}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The releases of a product in a country, as a STAC collection */
        get: operations["getStacCollection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stac/collections/{collection}/items/{item}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A release as a STAC item */
        get: operations["getStacItem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/history/my": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The own history */
        get: operations["listHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/history/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An item of the own history */
        get: operations["getHistoryItem"];
        put?: never;
        post?: never;
        /** Delete an item of the own history */
        delete: operations["deleteHistoryItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/history/{id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where an item of the own history is shared */
        get: operations["getShare"];
        put?: never;
        /** Share an item of the own history */
        post: operations["shareHistoryItem"];
        /** Take the sharing of an item back */
        delete: operations["unshareHistoryItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cite/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An advisory that was shared */
        get: operations["getCitation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/history/{id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say how good an advisory was */
        post: operations["giveFeedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How much was asked, and how it went */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The slowest calls lately */
        get: operations["listSlowCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The own account */
        get: operations["getProfile"];
        put?: never;
        post?: never;
        /** Delete the own account */
        delete: operations["deleteProfile"];
        options?: never;
        head?: never;
        /** Change the own account */
        patch: operations["changeProfile"];
        trace?: never;
    };
    "/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make an account */
        post: operations["register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get tokens for e-mail and password */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change a refresh token for new tokens */
        post: operations["refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change the password */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/reauthenticate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give the password again */
        post: operations["reauthenticate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the session */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The own sessions */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /** End all other sessions */
        delete: operations["endOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a session */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/two-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the account has a second factor */
        get: operations["getTwoFactor"];
        put?: never;
        /** Begin to set up a second factor */
        post: operations["beginTwoFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/two-factor/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Turn the second factor on, with a code of the app */
        post: operations["confirmTwoFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/two-factor/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Turn the second factor off */
        post: operations["disableTwoFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password/forgot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask for a mail to choose a new password with */
        post: operations["forgotPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/confirm/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask for another mail to confirm the e-mail with */
        post: operations["resendConfirmation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Choose a new password with a token */
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirm the e-mail with a token */
        post: operations["confirmEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The own keys */
        get: operations["listKeys"];
        put?: never;
        /** Make a key for a server */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a key */
        delete: operations["deleteKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Links to the documentation and the catalog */
        get: operations["getServiceLinks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process runs */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether requests can be answered */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What went wrong, for programs. Stable; later versions of the service may have others.
         * @enum {string}
         */
        ErrorCode: "INVALID_PARAMETERS" | "MALFORMED_JSON" | "MALFORMED_BODY" | "MALFORMED_REQUEST" | "INVALID_GEOMETRY" | "CROP_NOT_AVAILABLE" | "UNKNOWN_COUNTRY" | "INVALID_TOKEN" | "UNAUTHORIZED" | "INVALID_CREDENTIALS" | "TWO_FACTOR_REQUIRED" | "INVALID_CODE" | "FORBIDDEN" | "INSUFFICIENT_SCOPE" | "LOGIN_REQUIRED" | "REAUTHENTICATION_REQUIRED" | "TWO_FACTOR_SETUP_REQUIRED" | "EMAIL_NOT_CONFIRMED" | "NOT_FOUND" | "MAIL_NOT_CONFIGURED" | "UNKNOWN_AREA" | "NO_AREAS" | "NO_RELEASE" | "OUTSIDE_COUNTRY" | "NO_DATA" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "RELEASE_GONE" | "REQUEST_TIMEOUT" | "EMAIL_TAKEN" | "REQUEST_IN_PROGRESS" | "TWO_FACTOR_ON" | "TOO_MANY_SUBSCRIPTIONS" | "TOO_MANY_KEYS" | "TOO_MANY_SHARES" | "BODY_TOO_LARGE" | "TOO_MANY_POINTS" | "TOO_MANY_POLYGONS" | "UNSUPPORTED_MEDIA_TYPE" | "RANGE_NOT_SATISFIABLE" | "IDEMPOTENCY_KEY_REUSED" | "TOO_MANY_REQUESTS" | "RATE_LIMITED" | "HEADERS_TOO_LARGE" | "INTERNAL" | "OVERLOADED" | "QUERY_TIMEOUT" | "DATABASE_UNAVAILABLE" | "DATABASE_READ_ONLY";
        /** @description What is wrong with one parameter, or, with a `code`, why one product has no value. */
        ErrorDetail: {
            /**
             * @description The parameter, as a dotted path; or the product.
             * @example lat
             */
            field: string;
            /** @example lat must be a number from -90 to 90 */
            message: string;
            /** @description The accepted values, where they can be listed. */
            allowed?: string[];
            code?: components["schemas"]["ErrorCode"];
        };
        /**
         * @description The body of every answer that is not a success.
         * @example {
         *       "error": "lat must be a number from -90 to 90.",
         *       "code": "INVALID_PARAMETERS",
         *       "details": [
         *         {
         *           "field": "lat",
         *           "message": "lat must be a number from -90 to 90"
         *         }
         *       ],
         *       "request_id": "u3Vb0fJX2kQe-5k"
         *     }
         */
        Error: {
            /** @description What went wrong, as a sentence for people. */
            error: string;
            code: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
            /** @description The `X-Request-Id` of the answer: with it the operator finds the request in the log. */
            request_id: string;
        };
        /**
         * @description An account, as its owner sees it.
         * @example {
         *       "id": "7f4c6a0e-6b0f-4a58-9d0c-2f1f6f0c9a11",
         *       "email": "amina@example.org",
         *       "name": "Amina Bekele",
         *       "organisation": "Oromia Extension Service",
         *       "email_confirmed": true,
         *       "role": "user",
         *       "created_at": "2026-07-01T08:30:00.000Z"
         *     }
         */
        UserProfile: {
            /** Format: uuid */
            id: string;
            email: string;
            name: string;
            organisation: string | null;
            /** @description False until the e-mail is confirmed, where the service asks for that (`POST /auth/confirm`); it is true of whom it has not asked. */
            email_confirmed: boolean;
            /**
             * @description What the account may do. Only an operator changes it.
             * @enum {string}
             */
            role: "user" | "admin";
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
        };
        /**
         * @description What was seen in the field.
         * @example {
         *       "yield_kg_ha": 3100,
         *       "rate_kg_ha": 120,
         *       "harvested_on": "2026-11-20"
         *     }
         */
        Observed: {
            /** @description What was harvested, in kg/ha. */
            yield_kg_ha?: number;
            /** @description Inorganic fertilizer applied, in kg/ha. */
            rate_kg_ha?: number;
            /** @description Organic input applied, in metric tons per hectare. */
            rate_tons_ha?: number;
            /**
             * Format: date
             * @description The date of the harvest, which is not in the future.
             * @example 2026-11-20
             */
            harvested_on?: string;
        };
        Feedback: {
            /**
             * @description 1 is useless, 5 is just right.
             * @example 4
             */
            rating: number;
            /** @example The harvest came close to it. */
            comment: string | null;
            observed: components["schemas"]["Observed"] | null;
            /**
             * Format: date-time
             * @description When it was first given.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last replaced.
             * @example 2026-07-01T08:30:00.000Z
             */
            updated_at: string;
        };
        /** @description The administrative area that was asked about. */
        AdvisedArea: {
            /** @example eth */
            country_code: string;
            /**
             * @description 0 is the country.
             * @example 1
             */
            level: number;
            /**
             * @description Stable: what to ask for it by.
             * @example RWA-02
             */
            code: string;
            /** @example Southern Province */
            name: string;
        };
        /** @description An administrative area. */
        AdminSelection: {
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`.
             * @example eth
             */
            country_code: string;
            /**
             * @description The code of the area, as in `GET /admin`.
             * @example ETH-01
             */
            code: string;
            /** @description Its level, 0 for the country. Where it is left out, the highest that has the code. */
            level?: number | null;
        };
        /** @description A GeoJSON Polygon or MultiPolygon, a Feature of one, or a FeatureCollection of one Feature, in longitude and latitude (WGS 84). At most 10,000 vertices. Edges are straight in longitude and latitude. Heights are ignored, a `crs` of another system is refused, and nothing is repaired: what is not closed, crosses itself, has no area or has holes outside is refused with its place. */
        PolygonGeometry: components["schemas"]["Polygon"] | components["schemas"]["MultiPolygon"] | components["schemas"]["Feature"] | components["schemas"]["FeatureCollection"];
        /**
         * Format: binary
         * @description An indexed PNG.
         */
        Picture: string;
        /**
         * @description A GeoJSON Polygon.
         * @example {
         *       "type": "Polygon",
         *       "coordinates": [
         *         [
         *           [
         *             38.5,
         *             9.5
         *           ],
         *           [
         *             38.62,
         *             9.5
         *           ],
         *           [
         *             38.6,
         *             9.58
         *           ],
         *           [
         *             38.5,
         *             9.5
         *           ]
         *         ]
         *       ]
         *     }
         */
        Polygon: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "Polygon";
            /** @description The outer ring, then the holes. */
            coordinates: number[][][];
        };
        /**
         * @description A GeoJSON MultiPolygon.
         * @example {
         *       "type": "MultiPolygon",
         *       "coordinates": [
         *         [
         *           [
         *             [
         *               38.5,
         *               9.5
         *             ],
         *             [
         *               38.62,
         *               9.5
         *             ],
         *             [
         *               38.6,
         *               9.58
         *             ],
         *             [
         *               38.5,
         *               9.5
         *             ]
         *           ]
         *         ]
         *       ]
         *     }
         */
        MultiPolygon: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "MultiPolygon";
            coordinates: number[][][][];
        };
        /** @description A GeoJSON Feature of a Polygon or a MultiPolygon. */
        Feature: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "Feature";
            /** @description The shape of the Feature. */
            geometry: components["schemas"]["Polygon"] | components["schemas"]["MultiPolygon"];
            /** @description Ignored, but for `name`. */
            properties?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A GeoJSON FeatureCollection of one Feature. */
        FeatureCollection: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "FeatureCollection";
            features: components["schemas"]["Feature"][];
        };
        /**
         * @description A point and what to answer for. Fields that are not listed are ignored.
         * @example {
         *       "lat": 9.5,
         *       "lng": 38.5,
         *       "crop": "wheat",
         *       "country_code": "eth",
         *       "name": "My field"
         *     }
         */
        PointRequest: {
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng: number;
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. `Point` when left out.
             * @example Point
             */
            name?: string | null;
            /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
            forecast_period?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
            provenance?: boolean | null;
            area?: {
                /**
                 * @description How much: at most 1000000 ha.
                 * @example 2.5
                 */
                value: number;
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit?: "ha" | "m2" | "are" | "acre" | "timad";
            } | null;
            bags?: {
                [key: string]: number;
            } | null;
            prices?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                /**
                 * @description What a kilogram costs, by what it is.
                 * @example {
                 *       "Compost": 4.5
                 *     }
                 */
                per_kg?: {
                    [key: string]: number;
                };
                /**
                 * @description What a bag of those in `bags` costs, by what it is.
                 * @example {
                 *       "Urea": 2250,
                 *       "DAP": 2600
                 *     }
                 */
                per_bag?: {
                    [key: string]: number;
                };
            } | null;
            /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
            budget?: number | null;
            produce_price?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                per_kg: number;
            } | null;
            scenario_weights?: {
                [key: string]: number;
            } | null;
            nutrients?: boolean | null;
            /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
            max_segments?: number | null;
        };
        /**
         * @description A point. Forage needs no crop; fields that are not listed are ignored.
         * @example {
         *       "lat": -1,
         *       "lng": 36.5,
         *       "country_code": "ken",
         *       "name": "My pasture"
         *     }
         */
        ForagePointRequest: {
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng: number;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. `Point` when left out.
             * @example Point
             */
            name?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
            provenance?: boolean | null;
            /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
            max_segments?: number | null;
        };
        /** @description Some fields of a request, where the query has the others. */
        PointRemainder: {
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat?: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng?: number;
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. `Point` when left out.
             * @example Point
             */
            name?: string | null;
            /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
            forecast_period?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
            provenance?: boolean | null;
            area?: {
                /**
                 * @description How much: at most 1000000 ha.
                 * @example 2.5
                 */
                value: number;
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit?: "ha" | "m2" | "are" | "acre" | "timad";
            } | null;
            bags?: {
                [key: string]: number;
            } | null;
            prices?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                /**
                 * @description What a kilogram costs, by what it is.
                 * @example {
                 *       "Compost": 4.5
                 *     }
                 */
                per_kg?: {
                    [key: string]: number;
                };
                /**
                 * @description What a bag of those in `bags` costs, by what it is.
                 * @example {
                 *       "Urea": 2250,
                 *       "DAP": 2600
                 *     }
                 */
                per_bag?: {
                    [key: string]: number;
                };
            } | null;
            /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
            budget?: number | null;
            produce_price?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                per_kg: number;
            } | null;
            scenario_weights?: {
                [key: string]: number;
            } | null;
            nutrients?: boolean | null;
            /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
            max_segments?: number | null;
        };
        /** @description Some fields of a request, where the query has the others. */
        ForagePointRemainder: {
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat?: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng?: number;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. `Point` when left out.
             * @example Point
             */
            name?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
            provenance?: boolean | null;
            /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
            max_segments?: number | null;
        };
        Location: {
            /**
             * @description The label of the request.
             * @example My field
             */
            name: string;
            /** @example 9.5 */
            lat: number;
            /** @example 38.5 */
            lng: number;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            type: "point" | "polygon";
        };
        /** @description A layer that has a value in a pixel. */
        ProvenanceLayer: {
            /**
             * @description Its number, as in `GET /releases/{release}/layers`.
             * @example 2
             */
            layer: number;
            /**
             * @description What is applied or grown; null where the product has none.
             * @example null
             */
            input: string | null;
            /** @example Normal */
            scenario: string | null;
            /**
             * @description The number that is stored of the pixel, unrounded. The value is `raw` * `scale` + `offset`, rounded.
             * @example 2464.1298828125
             */
            raw: number;
            /** @example 1 */
            scale: number;
            /** @example 0 */
            offset: number;
        };
        /** @description The pixel of a grid that the point lies in. */
        ProvenancePixel: {
            /**
             * @description EPSG code of the CRS of the grid.
             * @example 4326
             */
            srid: number;
            /**
             * @description Counted from 0, at the left.
             * @example 550
             */
            column: number;
            /**
             * @description Counted from 0, at the top.
             * @example 540
             */
            row: number;
            /** @description The middle of the pixel. */
            centre: {
                /**
                 * @description In the CRS of the grid.
                 * @example 38.505
                 */
                x: number;
                /**
                 * @description In the CRS of the grid.
                 * @example 9.495
                 */
                y: number;
                /**
                 * @description Longitude in decimal degrees (WGS 84).
                 * @example 38.5
                 */
                lng: number;
                /**
                 * @description Latitude in decimal degrees (WGS 84).
                 * @example 9.5
                 */
                lat: number;
            };
            size: {
                /**
                 * @description Its width, in the unit of the CRS.
                 * @example 0.01
                 */
                x: number;
                /**
                 * @description Its height.
                 * @example 0.01
                 */
                y: number;
                /** @example degree */
                unit: string;
            };
            layers: components["schemas"]["ProvenanceLayer"][];
        };
        /** @description Which pixels of a release were read for an answer, and whose they are. */
        Provenance: {
            /** @example yield-eth-wheat-2026-07-v1 */
            release: string;
            /**
             * @description Who made its values.
             * @example Ministry of Agriculture, agronomy model 4.2
             */
            source: string;
            /** @example CC BY 4.0 */
            licence: string;
            /**
             * @description SHA-256 of the definitions of its layers and of the files that it was loaded from.
             * @example 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
             */
            checksum: string;
            /** @description One for each grid that has a value at the point. */
            pixels: components["schemas"]["ProvenancePixel"][];
        };
        /**
         * @description Kilograms of nutrients.
         * @example {
         *       "N": 172.5,
         *       "P2O5": 0,
         *       "K2O": 0,
         *       "S": 0
         *     }
         */
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
        /**
         * @description What the value of an entry comes to on the area.
         * @example {
         *       "kg": 375,
         *       "bags": 8,
         *       "bag_kg": 50,
         *       "rest_kg": 25,
         *       "cost": 18000
         *     }
         */
        Quantity: {
            /** @description Kilograms, to the gram. */
            kg?: number;
            /** @description Tonnes, to the gram. */
            t?: number;
            /** @description Whole bags: as many as it takes. */
            bags?: number;
            /** @description What a bag has. */
            bag_kg?: number;
            /** @description What is left in the last bag. */
            rest_kg?: number;
            /** @description What it costs: of whole bags, where there are bags. To the hundredth, in `currency`. */
            cost?: number;
            /** @description What the harvest is sold for. To the hundredth, in `currency`. */
            return?: number;
            nutrients_kg?: components["schemas"]["Nutrients"];
        };
        /**
         * @description What the answer comes to on the area. Only there where quantities were asked for.
         * @example {
         *       "area": {
         *         "value": 2.5,
         *         "unit": "ha",
         *         "ha": 2.5
         *       },
         *       "currency": "ETB",
         *       "scenarios": [
         *         {
         *           "scenario": "Normal",
         *           "cost": 28400,
         *           "share": 0.5,
         *           "share_cost": 14200
         *         }
         *       ],
         *       "least": {
         *         "scenario": "Normal",
         *         "cost": 28400
         *       },
         *       "most": {
         *         "scenario": "Normal",
         *         "cost": 28400
         *       },
         *       "expected": {
         *         "cost": 28400
         *       }
         *     }
         */
        Quantities: {
            /** @description The area that the quantities are for. */
            area: {
                value: number;
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit: "ha" | "m2" | "are" | "acre" | "timad";
                /** @description The same in hectares. */
                ha: number;
            };
            /**
             * @description An ISO 4217 code. Nothing is converted.
             * @example ETB
             */
            currency?: string;
            scenarios?: {
                scenario: string | null;
                /** @description Kilograms, to the gram. */
                kg?: number;
                /** @description Tonnes, to the gram. */
                t?: number;
                /** @description The cost of all inputs. To the hundredth, in `currency`. */
                cost?: number;
                /** @description What the harvest is sold for. To the hundredth, in `currency`. */
                return?: number;
                /** @description The largest share of every rate that the budget pays for, rounded down to four decimals. */
                share?: number;
                /** @description What that share costs. To the hundredth, in `currency`. */
                share_cost?: number;
            }[];
            /** @description The scenario with the least yield, or the least cost. */
            least?: {
                scenario: string | null;
                /** @description Kilograms, to the gram. */
                kg?: number;
                /** @description Tonnes, to the gram. */
                t?: number;
                /** @description The cost of all inputs. To the hundredth, in `currency`. */
                cost?: number;
                /** @description What the harvest is sold for. To the hundredth, in `currency`. */
                return?: number;
            };
            /** @description The scenario with the most. */
            most?: {
                scenario: string | null;
                /** @description Kilograms, to the gram. */
                kg?: number;
                /** @description Tonnes, to the gram. */
                t?: number;
                /** @description The cost of all inputs. To the hundredth, in `currency`. */
                cost?: number;
                /** @description What the harvest is sold for. To the hundredth, in `currency`. */
                return?: number;
            };
            /** @description The mean over scenarios, by their weights. */
            expected?: {
                /** @description Kilograms, to the gram. */
                kg?: number;
                /** @description Tonnes, to the gram. */
                t?: number;
                /** @description The cost of all inputs. To the hundredth, in `currency`. */
                cost?: number;
                /** @description What the harvest is sold for. To the hundredth, in `currency`. */
                return?: number;
            };
            /** @description Inputs without a price: no cost of a scenario with them is told, and no share. */
            unpriced?: string[];
        };
        /**
         * @example {
         *       "scenario": "Above Normal",
         *       "yield_kg_ha": 2834
         *     }
         */
        YieldEntry: {
            /**
             * @description How the season turns out:
             *
             *     - `Above Normal`: The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. What is measured, rainfall as a rule, is as published by the source.
             *     - `Normal`: The season turns out normal: in the middle third of past seasons.
             *     - `Below Normal`: The season turns out below normal: in the lower third of past seasons.
             *     - `Dominant`: The season that the forecast takes for the most likely. How that is decided, from place to place or for all, and whether its values are those of one of the three above, is as published by the source.
             *
             *     Or another by its name, as published by the source.
             * @example Above Normal
             * @example Normal
             * @example Below Normal
             * @example Dominant
             */
            scenario: string;
            /** @description The predicted yield, in kilograms per hectare. */
            yield_kg_ha: number;
            quantity?: components["schemas"]["Quantity"];
        };
        /**
         * @example {
         *       "fertilizer_type": "DAP",
         *       "scenario": "Normal",
         *       "rate_kg_ha": 89
         *     }
         */
        FertilizerEntry: {
            /** @description For example `Urea` or `DAP`. */
            fertilizer_type: string;
            /**
             * @description How the season turns out:
             *
             *     - `Above Normal`: The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. What is measured, rainfall as a rule, is as published by the source.
             *     - `Normal`: The season turns out normal: in the middle third of past seasons.
             *     - `Below Normal`: The season turns out below normal: in the lower third of past seasons.
             *     - `Dominant`: The season that the forecast takes for the most likely. How that is decided, from place to place or for all, and whether its values are those of one of the three above, is as published by the source.
             *
             *     Or another by its name, as published by the source.
             * @example Above Normal
             * @example Normal
             * @example Below Normal
             * @example Dominant
             */
            scenario: string;
            /** @description The recommended rate, in kilograms per hectare. 0 is a recommendation, too. */
            rate_kg_ha: number;
            quantity?: components["schemas"]["Quantity"];
        };
        /**
         * @example {
         *       "isfm_type": "Compost",
         *       "scenario": "Normal",
         *       "rate_tons_ha": 6.4
         *     }
         */
        IsfmEntry: {
            /** @description For example `Compost` or `Vermicompost`. */
            isfm_type: string;
            /**
             * @description How the season turns out:
             *
             *     - `Above Normal`: The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. What is measured, rainfall as a rule, is as published by the source.
             *     - `Normal`: The season turns out normal: in the middle third of past seasons.
             *     - `Below Normal`: The season turns out below normal: in the lower third of past seasons.
             *     - `Dominant`: The season that the forecast takes for the most likely. How that is decided, from place to place or for all, and whether its values are those of one of the three above, is as published by the source.
             *
             *     Or another by its name, as published by the source.
             * @example Above Normal
             * @example Normal
             * @example Below Normal
             * @example Dominant
             */
            scenario: string;
            /** @description The recommended rate, in metric tons per hectare. 0 is a recommendation, too. */
            rate_tons_ha: number;
            quantity?: components["schemas"]["Quantity"];
        };
        /**
         * @example {
         *       "forage_variety": "Chloris gayana",
         *       "suitability_score": 0.415
         *     }
         */
        ForageEntry: {
            /** @description The species. */
            forage_variety: string;
            /** @description How well the species suits the place: higher is more suitable. The ends of the scale are as published by the source; `range` in `GET /catalog` says between which values a release lies. */
            suitability_score: number;
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My field",
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "type": "point"
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "yield-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "yield_data": [
         *         {
         *           "scenario": "Above Normal",
         *           "yield_kg_ha": 2834
         *         },
         *         {
         *           "scenario": "Normal",
         *           "yield_kg_ha": 2464
         *         }
         *       ]
         *     }
         */
        YieldResponse: {
            location: components["schemas"]["Location"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            yield_data: components["schemas"]["YieldEntry"][];
            /** @description One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`. */
            provenance?: components["schemas"]["Provenance"][];
            quantities?: components["schemas"]["Quantities"];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My field",
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "type": "point"
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "fertilizer-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "fertilizer_data": [
         *         {
         *           "fertilizer_type": "DAP",
         *           "scenario": "Normal",
         *           "rate_kg_ha": 89
         *         },
         *         {
         *           "fertilizer_type": "Urea",
         *           "scenario": "Normal",
         *           "rate_kg_ha": 150
         *         }
         *       ]
         *     }
         */
        FertilizerResponse: {
            location: components["schemas"]["Location"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            fertilizer_data: components["schemas"]["FertilizerEntry"][];
            /** @description One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`. */
            provenance?: components["schemas"]["Provenance"][];
            quantities?: components["schemas"]["Quantities"];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My field",
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "type": "point"
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "isfm-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "isfm_data": [
         *         {
         *           "isfm_type": "Compost",
         *           "scenario": "Normal",
         *           "rate_tons_ha": 6.4
         *         }
         *       ]
         *     }
         */
        IsfmResponse: {
            location: components["schemas"]["Location"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            isfm_data: components["schemas"]["IsfmEntry"][];
            /** @description One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`. */
            provenance?: components["schemas"]["Provenance"][];
            quantities?: components["schemas"]["Quantities"];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My pasture",
         *         "lat": -1,
         *         "lng": 36.5,
         *         "type": "point"
         *       },
         *       "release": "forage-ken-v1",
         *       "synthetic": false,
         *       "forage_data": [
         *         {
         *           "forage_variety": "Chloris gayana",
         *           "suitability_score": 0.415
         *         }
         *       ]
         *     }
         */
        ForageResponse: {
            location: components["schemas"]["Location"];
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            forage_data: components["schemas"]["ForageEntry"][];
            /** @description One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`. */
            provenance?: components["schemas"]["Provenance"][];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /** @description What `POST /advisory/yield/point` answers, or `error` and `code` where that has no answer. */
        YieldSection: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            yield_data: components["schemas"]["YieldEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        /** @description What `POST /advisory/fertilizer/point` answers, or `error` and `code` where that has no answer. */
        FertilizerSection: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            fertilizer_data: components["schemas"]["FertilizerEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        /** @description What `POST /advisory/isfm/point` answers, or `error` and `code` where that has no answer. */
        IsfmSection: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            isfm_data: components["schemas"]["IsfmEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        /** @description What `POST /advisory/forage/point` answers, or `error` and `code` where that has no answer. */
        ForageSection: {
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            forage_data: components["schemas"]["ForageEntry"][] | null;
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My pasture",
         *         "lat": -1,
         *         "lng": 36.5,
         *         "type": "point"
         *       },
         *       "yield": {
         *         "yield_data": null,
         *         "error": "The crop is not available for Kenya; it has forage only.",
         *         "code": "CROP_NOT_AVAILABLE"
         *       },
         *       "fertilizer": {
         *         "fertilizer_data": null,
         *         "error": "The crop is not available for Kenya; it has forage only.",
         *         "code": "CROP_NOT_AVAILABLE"
         *       },
         *       "isfm": {
         *         "isfm_data": null,
         *         "error": "The crop is not available for Kenya; it has forage only.",
         *         "code": "CROP_NOT_AVAILABLE"
         *       },
         *       "forage": {
         *         "release": "forage-ken-v1",
         *         "synthetic": false,
         *         "forage_data": [
         *           {
         *             "forage_variety": "Chloris gayana",
         *             "suitability_score": 0.765
         *           }
         *         ]
         *       }
         *     }
         */
        EverythingResponse: {
            location: components["schemas"]["Location"];
            yield: components["schemas"]["YieldSection"];
            fertilizer: components["schemas"]["FertilizerSection"];
            isfm: components["schemas"]["IsfmSection"];
            forage: components["schemas"]["ForageSection"];
            /** @description One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`. */
            provenance?: components["schemas"]["Provenance"][];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /** @description One of many points. Fields that are not listed are ignored, unless `pass` names them. */
        BatchPoint: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number | null;
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng: number;
            /**
             * @description A label for the place, given back in `location.name`. `Point` when left out.
             * @example Point
             */
            name?: string | null;
        };
        /**
         * @description Points, and what to answer for at all of them.
         * @example {
         *       "points": [
         *         {
         *           "id": "field-1",
         *           "lat": 9.5,
         *           "lng": 38.5,
         *           "name": "My field"
         *         },
         *         {
         *           "id": 2,
         *           "lat": -1,
         *           "lng": 36.5
         *         }
         *       ],
         *       "crop": "wheat",
         *       "country_code": "eth"
         *     }
         */
        PointsRequest: {
            /** @description At most 1000 without a token and 20000 with one. */
            points: components["schemas"]["BatchPoint"][];
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
            forecast_period?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description What else of the points is given back with their answers: at most 20 columns or properties by their names; in the query several times, or separated by commas. Texts of at most 1000 characters, numbers, true, false and null are passed; a point with anything else there is refused. A name that the answer has anyway is refused, and so is one that a table has no column of.
             * @example [
             *       "area_ha",
             *       "farmer"
             *     ]
             */
            pass?: string[] | null;
            area?: {
                /**
                 * @description How much: at most 1000000 ha.
                 * @example 2.5
                 */
                value?: number;
                /**
                 * @description Instead of `value`: the member, property or column that has the number of each point.
                 * @example area_ha
                 */
                from?: string;
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit?: "ha" | "m2" | "are" | "acre" | "timad";
            } | null;
            bags?: {
                [key: string]: number;
            } | null;
            prices?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                /**
                 * @description What a kilogram costs, by what it is.
                 * @example {
                 *       "Compost": 4.5
                 *     }
                 */
                per_kg?: {
                    [key: string]: number;
                };
                /**
                 * @description What a bag of those in `bags` costs, by what it is.
                 * @example {
                 *       "Urea": 2250,
                 *       "DAP": 2600
                 *     }
                 */
                per_bag?: {
                    [key: string]: number;
                };
            } | null;
            /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
            budget?: number | null;
            produce_price?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                per_kg: number;
            } | null;
            scenario_weights?: {
                [key: string]: number;
            } | null;
            nutrients?: boolean | null;
        };
        /**
         * @description Points, and the country to answer for at all of them.
         * @example {
         *       "points": [
         *         {
         *           "id": "pasture-1",
         *           "lat": -1,
         *           "lng": 36.5
         *         }
         *       ],
         *       "country_code": "ken"
         *     }
         */
        ForagePointsRequest: {
            /** @description At most 1000 without a token and 20000 with one. */
            points: components["schemas"]["BatchPoint"][];
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description What else of the points is given back with their answers: at most 20 columns or properties by their names; in the query several times, or separated by commas. Texts of at most 1000 characters, numbers, true, false and null are passed; a point with anything else there is refused. A name that the answer has anyway is refused, and so is one that a table has no column of.
             * @example [
             *       "area_ha",
             *       "farmer"
             *     ]
             */
            pass?: string[] | null;
        };
        /**
         * @description What `POST /advisory/yield/point` answers, with the point's `id`. A point without a value has `yield_data` null, and `error` and `code` say why; one that is not valid has these and what was `sent`.
         * @example {
         *       "id": "field-1",
         *       "location": {
         *         "name": "My field",
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "type": "point"
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "yield-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "yield_data": [
         *         {
         *           "scenario": "Above Normal",
         *           "yield_kg_ha": 2834
         *         },
         *         {
         *           "scenario": "Normal",
         *           "yield_kg_ha": 2464
         *         }
         *       ]
         *     }
         */
        YieldItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            location?: components["schemas"]["Location"];
            /**
             * @description Of a point that is not valid: what was sent, as it was sent. What is no text, number or boolean, or a text of more than 200 characters, is left out.
             * @example {
             *       "name": "My field",
             *       "lat": "nine",
             *       "lng": 38.5
             *     }
             */
            sent?: {
                /** @description Its name. */
                name?: string | number | boolean;
                /** @description Its latitude. */
                lat?: string | number | boolean;
                /** @description Its longitude. */
                lng?: string | number | boolean;
            };
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            yield_data?: components["schemas"]["YieldEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
            /** @description What `pass` named, as it was sent; what the point does not have is left out. */
            pass?: {
                [key: string]: string | number | boolean | null;
            };
        };
        /**
         * @description What `POST /advisory/fertilizer/point` answers, with the point's `id`. A point without a value has `fertilizer_data` null, and `error` and `code` say why; one that is not valid has these and what was `sent`.
         * @example {
         *       "id": "field-1",
         *       "location": {
         *         "name": "My field",
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "type": "point"
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "fertilizer-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "fertilizer_data": [
         *         {
         *           "fertilizer_type": "DAP",
         *           "scenario": "Normal",
         *           "rate_kg_ha": 89
         *         },
         *         {
         *           "fertilizer_type": "Urea",
         *           "scenario": "Normal",
         *           "rate_kg_ha": 150
         *         }
         *       ]
         *     }
         */
        FertilizerItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            location?: components["schemas"]["Location"];
            /**
             * @description Of a point that is not valid: what was sent, as it was sent. What is no text, number or boolean, or a text of more than 200 characters, is left out.
             * @example {
             *       "name": "My field",
             *       "lat": "nine",
             *       "lng": 38.5
             *     }
             */
            sent?: {
                /** @description Its name. */
                name?: string | number | boolean;
                /** @description Its latitude. */
                lat?: string | number | boolean;
                /** @description Its longitude. */
                lng?: string | number | boolean;
            };
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            fertilizer_data?: components["schemas"]["FertilizerEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
            /** @description What `pass` named, as it was sent; what the point does not have is left out. */
            pass?: {
                [key: string]: string | number | boolean | null;
            };
        };
        /**
         * @description What `POST /advisory/isfm/point` answers, with the point's `id`. A point without a value has `isfm_data` null, and `error` and `code` say why; one that is not valid has these and what was `sent`.
         * @example {
         *       "id": "field-1",
         *       "location": {
         *         "name": "My field",
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "type": "point"
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "isfm-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "isfm_data": [
         *         {
         *           "isfm_type": "Compost",
         *           "scenario": "Normal",
         *           "rate_tons_ha": 6.4
         *         }
         *       ]
         *     }
         */
        IsfmItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            location?: components["schemas"]["Location"];
            /**
             * @description Of a point that is not valid: what was sent, as it was sent. What is no text, number or boolean, or a text of more than 200 characters, is left out.
             * @example {
             *       "name": "My field",
             *       "lat": "nine",
             *       "lng": 38.5
             *     }
             */
            sent?: {
                /** @description Its name. */
                name?: string | number | boolean;
                /** @description Its latitude. */
                lat?: string | number | boolean;
                /** @description Its longitude. */
                lng?: string | number | boolean;
            };
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            isfm_data?: components["schemas"]["IsfmEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
            /** @description What `pass` named, as it was sent; what the point does not have is left out. */
            pass?: {
                [key: string]: string | number | boolean | null;
            };
        };
        /**
         * @description What `POST /advisory/forage/point` answers, with the point's `id`. A point without a value has `forage_data` null, and `error` and `code` say why; one that is not valid has these and what was `sent`.
         * @example {
         *       "id": "pasture-1",
         *       "location": {
         *         "name": "My pasture",
         *         "lat": -1,
         *         "lng": 36.5,
         *         "type": "point"
         *       },
         *       "release": "forage-ken-v1",
         *       "synthetic": false,
         *       "forage_data": [
         *         {
         *           "forage_variety": "Chloris gayana",
         *           "suitability_score": 0.415
         *         }
         *       ]
         *     }
         */
        ForageItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            location?: components["schemas"]["Location"];
            /**
             * @description Of a point that is not valid: what was sent, as it was sent. What is no text, number or boolean, or a text of more than 200 characters, is left out.
             * @example {
             *       "name": "My field",
             *       "lat": "nine",
             *       "lng": 38.5
             *     }
             */
            sent?: {
                /** @description Its name. */
                name?: string | number | boolean;
                /** @description Its latitude. */
                lat?: string | number | boolean;
                /** @description Its longitude. */
                lng?: string | number | boolean;
            };
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            forage_data?: components["schemas"]["ForageEntry"][] | null;
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
            /** @description What `pass` named, as it was sent; what the point does not have is left out. */
            pass?: {
                [key: string]: string | number | boolean | null;
            };
        };
        YieldPointsResponse: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each point, in their order. */
            items: components["schemas"]["YieldItem"][];
        };
        FertilizerPointsResponse: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each point, in their order. */
            items: components["schemas"]["FertilizerItem"][];
        };
        IsfmPointsResponse: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each point, in their order. */
            items: components["schemas"]["IsfmItem"][];
        };
        ForagePointsResponse: {
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each point, in their order. */
            items: components["schemas"]["ForageItem"][];
        };
        /**
         * @description A polygon or an administrative area, one of the two, and what to answer for. Fields that are not listed are ignored.
         * @example {
         *       "geometry": {
         *         "type": "Polygon",
         *         "coordinates": [
         *           [
         *             [
         *               38.5,
         *               9.5
         *             ],
         *             [
         *               38.62,
         *               9.5
         *             ],
         *             [
         *               38.6,
         *               9.58
         *             ],
         *             [
         *               38.5,
         *               9.6
         *             ],
         *             [
         *               38.5,
         *               9.5
         *             ]
         *           ]
         *         ]
         *       },
         *       "crop": "wheat",
         *       "country_code": "eth",
         *       "name": "My farm"
         *     }
         * @example {
         *       "admin": {
         *         "country_code": "eth",
         *         "code": "ETH-01"
         *       },
         *       "crop": "wheat"
         *     }
         * @example {
         *       "admin": {
         *         "country_code": "rwa",
         *         "code": "RWA-01"
         *       },
         *       "crop": "potato"
         *     }
         */
        PolygonRequest: {
            geometry: components["schemas"]["PolygonGeometry"];
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`.
             * @example My farm
             */
            name?: string | null;
            /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
            forecast_period?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
            area?: {
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit: "ha" | "m2" | "are" | "acre" | "timad";
            } | null;
            bags?: {
                [key: string]: number;
            } | null;
            prices?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                /**
                 * @description What a kilogram costs, by what it is.
                 * @example {
                 *       "Compost": 4.5
                 *     }
                 */
                per_kg?: {
                    [key: string]: number;
                };
                /**
                 * @description What a bag of those in `bags` costs, by what it is.
                 * @example {
                 *       "Urea": 2250,
                 *       "DAP": 2600
                 *     }
                 */
                per_bag?: {
                    [key: string]: number;
                };
            } | null;
            /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
            budget?: number | null;
            produce_price?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                per_kg: number;
            } | null;
            scenario_weights?: {
                [key: string]: number;
            } | null;
            nutrients?: boolean | null;
        } | {
            admin: components["schemas"]["AdminSelection"];
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`.
             * @example My farm
             */
            name?: string | null;
            /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
            forecast_period?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
            area?: {
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit: "ha" | "m2" | "are" | "acre" | "timad";
            } | null;
            bags?: {
                [key: string]: number;
            } | null;
            prices?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                /**
                 * @description What a kilogram costs, by what it is.
                 * @example {
                 *       "Compost": 4.5
                 *     }
                 */
                per_kg?: {
                    [key: string]: number;
                };
                /**
                 * @description What a bag of those in `bags` costs, by what it is.
                 * @example {
                 *       "Urea": 2250,
                 *       "DAP": 2600
                 *     }
                 */
                per_bag?: {
                    [key: string]: number;
                };
            } | null;
            /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
            budget?: number | null;
            produce_price?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                per_kg: number;
            } | null;
            scenario_weights?: {
                [key: string]: number;
            } | null;
            nutrients?: boolean | null;
        };
        /**
         * @description A polygon or an administrative area, one of the two. Forage needs no crop; fields that are not listed are ignored.
         * @example {
         *       "geometry": {
         *         "type": "Polygon",
         *         "coordinates": [
         *           [
         *             [
         *               38.5,
         *               9.5
         *             ],
         *             [
         *               38.62,
         *               9.5
         *             ],
         *             [
         *               38.6,
         *               9.58
         *             ],
         *             [
         *               38.5,
         *               9.6
         *             ],
         *             [
         *               38.5,
         *               9.5
         *             ]
         *           ]
         *         ]
         *       },
         *       "country_code": "eth",
         *       "name": "My pasture"
         *     }
         * @example {
         *       "admin": {
         *         "country_code": "ken",
         *         "code": "KEN-01"
         *       }
         *     }
         */
        ForagePolygonRequest: {
            geometry: components["schemas"]["PolygonGeometry"];
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`.
             * @example My farm
             */
            name?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
        } | {
            admin: components["schemas"]["AdminSelection"];
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area.
             * @example eth
             */
            country_code?: string | null;
            /**
             * @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`.
             * @example My farm
             */
            name?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
        };
        /**
         * @example {
         *       "name": "My farm",
         *       "lat": 9.55,
         *       "lng": 38.55,
         *       "type": "polygon",
         *       "area_ha": 12012.5
         *     }
         */
        PolygonLocation: {
            /** @description The label of the request, or the name of the area. */
            name: string;
            /** @description With `lng`, a point inside. */
            lat: number;
            lng: number;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            type: "polygon";
            /** @description Hectares, on the WGS 84 ellipsoid, to the square metre; what is small has three digits. */
            area_ha: number;
            admin?: components["schemas"]["AdvisedArea"];
        };
        /**
         * @example {
         *       "quantile": 0.5,
         *       "value": 2464.18,
         *       "error": 0
         *     }
         */
        Quantile: {
            /** @description Which one: 0.5 is the median. */
            quantile: number;
            /** @description The smallest value that, together with all smaller ones, has at least that part of the covered area: the inverse of the weighted distribution function (Hyndman and Fan, 1996, definition 1; `numpy.quantile` with `weights` and `method="inverted_cdf"`). */
            value: number;
            /** @description How far the exact quantile can lie from the value, rounding aside: 0 where it is exact. A polygon with more than 4,096 tiles (16 x 16 pixels) inside is computed from the least and greatest values of some of them, and one with very many values to a small part of their range. */
            error: number;
        };
        /**
         * @example {
         *       "from": 2318,
         *       "to": 2604,
         *       "percent": 100,
         *       "error": 0
         *     }
         */
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
            /**
             * @description How the season turns out:
             *
             *     - `Above Normal`: The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. What is measured, rainfall as a rule, is as published by the source.
             *     - `Normal`: The season turns out normal: in the middle third of past seasons.
             *     - `Below Normal`: The season turns out below normal: in the lower third of past seasons.
             *     - `Dominant`: The season that the forecast takes for the most likely. How that is decided, from place to place or for all, and whether its values are those of one of the three above, is as published by the source.
             *
             *     Or another by its name, as published by the source.
             * @example Above Normal
             * @example Normal
             * @example Below Normal
             * @example Dominant
             */
            scenario: string;
            /** @description The predicted yield, in kilograms per hectare. */
            yield_kg_ha: number;
            /** @description The smallest value of the pixels that the polygon overlaps. */
            min: number;
            /** @description The largest of them. Pixels that it only touches do not count. */
            max: number;
            /** @description The standard deviation of the population, each pixel weighed by its area inside. */
            stddev: number;
            /** @description How much of the polygon’s area has values. */
            covered_percent: number;
            /** @description In the order in which they were asked for. */
            quantiles?: components["schemas"]["Quantile"][];
            /** @description From the smallest values to the largest. */
            histogram?: components["schemas"]["HistogramBin"][];
            quantity?: components["schemas"]["Quantity"];
        };
        /** @description A layer in a polygon; the value is the mean, weighed by area. */
        PolygonFertilizerEntry: {
            /** @description For example `Urea` or `DAP`. */
            fertilizer_type: string;
            /**
             * @description How the season turns out:
             *
             *     - `Above Normal`: The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. What is measured, rainfall as a rule, is as published by the source.
             *     - `Normal`: The season turns out normal: in the middle third of past seasons.
             *     - `Below Normal`: The season turns out below normal: in the lower third of past seasons.
             *     - `Dominant`: The season that the forecast takes for the most likely. How that is decided, from place to place or for all, and whether its values are those of one of the three above, is as published by the source.
             *
             *     Or another by its name, as published by the source.
             * @example Above Normal
             * @example Normal
             * @example Below Normal
             * @example Dominant
             */
            scenario: string;
            /** @description The recommended rate, in kilograms per hectare. 0 is a recommendation, too. */
            rate_kg_ha: number;
            /** @description The smallest value of the pixels that the polygon overlaps. */
            min: number;
            /** @description The largest of them. Pixels that it only touches do not count. */
            max: number;
            /** @description The standard deviation of the population, each pixel weighed by its area inside. */
            stddev: number;
            /** @description How much of the polygon’s area has values. */
            covered_percent: number;
            /** @description Kilograms for the covered area: the mean times its hectares. */
            total_kg: number;
            /** @description In the order in which they were asked for. */
            quantiles?: components["schemas"]["Quantile"][];
            /** @description From the smallest values to the largest. */
            histogram?: components["schemas"]["HistogramBin"][];
            quantity?: components["schemas"]["Quantity"];
        };
        /** @description A layer in a polygon; the value is the mean, weighed by area. */
        PolygonIsfmEntry: {
            /** @description For example `Compost` or `Vermicompost`. */
            isfm_type: string;
            /**
             * @description How the season turns out:
             *
             *     - `Above Normal`: The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. What is measured, rainfall as a rule, is as published by the source.
             *     - `Normal`: The season turns out normal: in the middle third of past seasons.
             *     - `Below Normal`: The season turns out below normal: in the lower third of past seasons.
             *     - `Dominant`: The season that the forecast takes for the most likely. How that is decided, from place to place or for all, and whether its values are those of one of the three above, is as published by the source.
             *
             *     Or another by its name, as published by the source.
             * @example Above Normal
             * @example Normal
             * @example Below Normal
             * @example Dominant
             */
            scenario: string;
            /** @description The recommended rate, in metric tons per hectare. 0 is a recommendation, too. */
            rate_tons_ha: number;
            /** @description The smallest value of the pixels that the polygon overlaps. */
            min: number;
            /** @description The largest of them. Pixels that it only touches do not count. */
            max: number;
            /** @description The standard deviation of the population, each pixel weighed by its area inside. */
            stddev: number;
            /** @description How much of the polygon’s area has values. */
            covered_percent: number;
            /** @description Metric tons for the covered area: the mean times its hectares. */
            total_tons: number;
            /** @description In the order in which they were asked for. */
            quantiles?: components["schemas"]["Quantile"][];
            /** @description From the smallest values to the largest. */
            histogram?: components["schemas"]["HistogramBin"][];
            quantity?: components["schemas"]["Quantity"];
        };
        /** @description A layer in a polygon; the value is the mean, weighed by area. */
        PolygonForageEntry: {
            /** @description The species. */
            forage_variety: string;
            /** @description How well the species suits the place: higher is more suitable. The ends of the scale are as published by the source; `range` in `GET /catalog` says between which values a release lies. */
            suitability_score: number;
            /** @description The smallest value of the pixels that the polygon overlaps. */
            min: number;
            /** @description The largest of them. Pixels that it only touches do not count. */
            max: number;
            /** @description The standard deviation of the population, each pixel weighed by its area inside. */
            stddev: number;
            /** @description How much of the polygon’s area has values. */
            covered_percent: number;
            /** @description In the order in which they were asked for. */
            quantiles?: components["schemas"]["Quantile"][];
            /** @description From the smallest values to the largest. */
            histogram?: components["schemas"]["HistogramBin"][];
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "yield-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "yield_data": [
         *         {
         *           "scenario": "Normal",
         *           "yield_kg_ha": 2464.18,
         *           "min": 2318,
         *           "max": 2604,
         *           "stddev": 71.52,
         *           "covered_percent": 100
         *         }
         *       ],
         *       "history_id": "0199b0a4-5f0e-7c5b-9d55-3d0d6b1f2a77"
         *     }
         */
        PolygonYieldResponse: {
            location: components["schemas"]["PolygonLocation"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            yield_data: components["schemas"]["PolygonYieldEntry"][];
            quantities?: components["schemas"]["Quantities"];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "fertilizer-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "fertilizer_data": [
         *         {
         *           "fertilizer_type": "Urea",
         *           "scenario": "Normal",
         *           "rate_kg_ha": 150.25,
         *           "min": 141,
         *           "max": 158,
         *           "stddev": 4.02,
         *           "covered_percent": 100,
         *           "total_kg": 1804878.125
         *         }
         *       ],
         *       "history_id": "0199b0a4-5f0e-7c5b-9d55-3d0d6b1f2a77"
         *     }
         */
        PolygonFertilizerResponse: {
            location: components["schemas"]["PolygonLocation"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            fertilizer_data: components["schemas"]["PolygonFertilizerEntry"][];
            quantities?: components["schemas"]["Quantities"];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "isfm-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "isfm_data": [
         *         {
         *           "isfm_type": "Compost",
         *           "scenario": "Normal",
         *           "rate_tons_ha": 6.42,
         *           "min": 6.1,
         *           "max": 6.8,
         *           "stddev": 0.17,
         *           "covered_percent": 100,
         *           "total_tons": 77120.25
         *         }
         *       ],
         *       "history_id": "0199b0a4-5f0e-7c5b-9d55-3d0d6b1f2a77"
         *     }
         */
        PolygonIsfmResponse: {
            location: components["schemas"]["PolygonLocation"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            isfm_data: components["schemas"]["PolygonIsfmEntry"][];
            quantities?: components["schemas"]["Quantities"];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /**
         * @example {
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "release": "forage-ken-v1",
         *       "synthetic": false,
         *       "forage_data": [
         *         {
         *           "forage_variety": "Chloris gayana",
         *           "suitability_score": 0.4181,
         *           "min": 0.395,
         *           "max": 0.441,
         *           "stddev": 0.0112,
         *           "covered_percent": 100
         *         }
         *       ],
         *       "history_id": "0199b0a4-5f0e-7c5b-9d55-3d0d6b1f2a77"
         *     }
         */
        PolygonForageResponse: {
            location: components["schemas"]["PolygonLocation"];
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            forage_data: components["schemas"]["PolygonForageEntry"][];
            /**
             * Format: uuid
             * @description The id of this answer in the history of the caller. For callers with a valid token.
             */
            history_id?: string;
        };
        /**
         * @description A GeoJSON FeatureCollection of at most 1000 polygons, in longitude and latitude (WGS 84). Heights are ignored, and so are properties that are not listed.
         * @example {
         *       "type": "FeatureCollection",
         *       "features": [
         *         {
         *           "type": "Feature",
         *           "id": "field-1",
         *           "geometry": {
         *             "type": "Polygon",
         *             "coordinates": [
         *               [
         *                 [
         *                   38.5,
         *                   9.5
         *                 ],
         *                 [
         *                   38.51,
         *                   9.5
         *                 ],
         *                 [
         *                   38.51,
         *                   9.51
         *                 ],
         *                 [
         *                   38.5,
         *                   9.51
         *                 ],
         *                 [
         *                   38.5,
         *                   9.5
         *                 ]
         *               ]
         *             ]
         *           },
         *           "properties": {
         *             "name": "My field"
         *           }
         *         }
         *       ]
         *     }
         */
        PolygonCollection: {
            /** @constant */
            type: "FeatureCollection";
            features: {
                /** @constant */
                type: "Feature";
                /**
                 * @description Whatever tells the points of a call apart, given back as it was sent.
                 * @example field-1
                 */
                id?: string | number | null;
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
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`.
             * @example eth
             */
            country_code: string;
            /**
             * @description The level of the areas, 0 for the country.
             * @example 1
             */
            level: number;
            /** @description Only areas within this one: the code of an area of any level above. */
            parent?: string | null;
        };
        /** @description What places and columns are called in a DHIS2. Identifiers are its UIDs, or what else it is told to take them for. */
        Dhis2Mapping: {
            /** @description Which columns are wanted. What has no value is left out. */
            data_elements: {
                /**
                 * @description A column of the answer as CSV.
                 * @example yield_kg_ha Normal
                 */
                column: string;
                /**
                 * @description What its numbers are there.
                 * @example fbfJHSPpUQD
                 */
                data_element: string;
                /** @description Left out of the values where it is left out. */
                category_option_combo?: string | null;
            }[];
            /** @description Which organisation units the areas or polygons are. Where it is left out, their codes are those of the organisation units, and the set says so (`orgUnitIdScheme`). */
            org_units?: {
                /**
                 * @description The code of an area, or the `id` of a polygon.
                 * @example ETH-01
                 */
                id: string;
                /** @example O6uvpzGd5pu */
                org_unit: string;
            }[] | null;
            /**
             * @description The period of the values. The month of the forecast where it is left out, such as `202607`.
             * @example 202607
             */
            period?: string | null;
            /** @description Named in the set where it is sent. */
            data_set?: string | null;
            /** @description That of all values. Left out where it is left out. */
            attribute_option_combo?: string | null;
        };
        /**
         * @description Polygons or the administrative areas of a level, one of the two, and what to answer for. Fields that are not listed are ignored.
         * @example {
         *       "admin": {
         *         "country_code": "eth",
         *         "level": 1
         *       },
         *       "crop": "wheat"
         *     }
         * @example {
         *       "polygons": {
         *         "type": "FeatureCollection",
         *         "features": [
         *           {
         *             "type": "Feature",
         *             "id": "field-1",
         *             "geometry": {
         *               "type": "Polygon",
         *               "coordinates": [
         *                 [
         *                   [
         *                     38.5,
         *                     9.5
         *                   ],
         *                   [
         *                     38.51,
         *                     9.5
         *                   ],
         *                   [
         *                     38.51,
         *                     9.51
         *                   ],
         *                   [
         *                     38.5,
         *                     9.51
         *                   ],
         *                   [
         *                     38.5,
         *                     9.5
         *                   ]
         *                 ]
         *               ]
         *             },
         *             "properties": {
         *               "name": "My field"
         *             }
         *           }
         *         ]
         *       },
         *       "crop": "wheat",
         *       "country_code": "eth"
         *     }
         */
        PolygonsRequest: {
            polygons: components["schemas"]["PolygonCollection"];
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas.
             * @example eth
             */
            country_code?: string | null;
            /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
            forecast_period?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
            area?: {
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit: "ha" | "m2" | "are" | "acre" | "timad";
            } | null;
            bags?: {
                [key: string]: number;
            } | null;
            prices?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                /**
                 * @description What a kilogram costs, by what it is.
                 * @example {
                 *       "Compost": 4.5
                 *     }
                 */
                per_kg?: {
                    [key: string]: number;
                };
                /**
                 * @description What a bag of those in `bags` costs, by what it is.
                 * @example {
                 *       "Urea": 2250,
                 *       "DAP": 2600
                 *     }
                 */
                per_bag?: {
                    [key: string]: number;
                };
            } | null;
            /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
            budget?: number | null;
            produce_price?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                per_kg: number;
            } | null;
            scenario_weights?: {
                [key: string]: number;
            } | null;
            nutrients?: boolean | null;
            /**
             * @description The form of the answer, for whoever cannot send `Accept`; it wins over that.
             * @enum {string|null}
             */
            format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2" | null;
            dhis2?: components["schemas"]["Dhis2Mapping"] | null;
        } | {
            admin: components["schemas"]["AreasSelection"];
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas.
             * @example eth
             */
            country_code?: string | null;
            /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
            forecast_period?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
            area?: {
                /**
                 * @description A hectare, a square metre, an are (100 m²), an international acre (4,046.8564224 m²), or a timad, here a quarter of a hectare by definition. `ha` when left out.
                 * @enum {string}
                 */
                unit: "ha" | "m2" | "are" | "acre" | "timad";
            } | null;
            bags?: {
                [key: string]: number;
            } | null;
            prices?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                /**
                 * @description What a kilogram costs, by what it is.
                 * @example {
                 *       "Compost": 4.5
                 *     }
                 */
                per_kg?: {
                    [key: string]: number;
                };
                /**
                 * @description What a bag of those in `bags` costs, by what it is.
                 * @example {
                 *       "Urea": 2250,
                 *       "DAP": 2600
                 *     }
                 */
                per_bag?: {
                    [key: string]: number;
                };
            } | null;
            /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
            budget?: number | null;
            produce_price?: {
                /**
                 * @description An ISO 4217 code. Nothing is converted.
                 * @example ETB
                 */
                currency: string;
                per_kg: number;
            } | null;
            scenario_weights?: {
                [key: string]: number;
            } | null;
            nutrients?: boolean | null;
            /**
             * @description The form of the answer, for whoever cannot send `Accept`; it wins over that.
             * @enum {string|null}
             */
            format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2" | null;
            dhis2?: components["schemas"]["Dhis2Mapping"] | null;
        };
        /**
         * @description Polygons or the administrative areas of a level, one of the two, and what to answer for. Fields that are not listed are ignored.
         * @example {
         *       "admin": {
         *         "country_code": "ken",
         *         "level": 1
         *       }
         *     }
         */
        ForagePolygonsRequest: {
            polygons: components["schemas"]["PolygonCollection"];
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas.
             * @example eth
             */
            country_code?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
            /**
             * @description The form of the answer, for whoever cannot send `Accept`; it wins over that.
             * @enum {string|null}
             */
            format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2" | null;
            dhis2?: components["schemas"]["Dhis2Mapping"] | null;
        } | {
            admin: components["schemas"]["AreasSelection"];
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas.
             * @example eth
             */
            country_code?: string | null;
            /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
            release?: string | null;
            /**
             * @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas.
             * @example [
             *       0.1,
             *       0.5,
             *       0.9
             *     ]
             */
            quantiles?: number[] | null;
            /**
             * @description Answer with a histogram of so many bins, or classes.
             * @example 10
             */
            histogram?: number | null;
            /**
             * @description The form of the answer, for whoever cannot send `Accept`; it wins over that.
             * @enum {string|null}
             */
            format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2" | null;
            dhis2?: components["schemas"]["Dhis2Mapping"] | null;
        };
        /**
         * @description What `POST /advisory/yield` answers, with the polygon's `id`, or the code of the area. Where there is no value, `yield_data` is null, and `error` and `code` say why; what is not valid or took too long has these alone.
         * @example {
         *       "id": "field-1",
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "yield-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "yield_data": [
         *         {
         *           "scenario": "Normal",
         *           "yield_kg_ha": 2464.18,
         *           "min": 2318,
         *           "max": 2604,
         *           "stddev": 71.52,
         *           "covered_percent": 100
         *         }
         *       ]
         *     }
         */
        PolygonYieldItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            /** @description Of a polygon that is not valid: its name, if it has one. */
            sent?: {
                name?: string;
            };
            location?: components["schemas"]["PolygonLocation"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            yield_data?: components["schemas"]["PolygonYieldEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        /**
         * @description What `POST /advisory/fertilizer` answers, with the polygon's `id`, or the code of the area. Where there is no value, `fertilizer_data` is null, and `error` and `code` say why; what is not valid or took too long has these alone.
         * @example {
         *       "id": "field-1",
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "fertilizer-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "fertilizer_data": [
         *         {
         *           "fertilizer_type": "Urea",
         *           "scenario": "Normal",
         *           "rate_kg_ha": 150.25,
         *           "min": 141,
         *           "max": 158,
         *           "stddev": 4.02,
         *           "covered_percent": 100,
         *           "total_kg": 1804878.125
         *         }
         *       ]
         *     }
         */
        PolygonFertilizerItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            /** @description Of a polygon that is not valid: its name, if it has one. */
            sent?: {
                name?: string;
            };
            location?: components["schemas"]["PolygonLocation"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            fertilizer_data?: components["schemas"]["PolygonFertilizerEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        /**
         * @description What `POST /advisory/isfm` answers, with the polygon's `id`, or the code of the area. Where there is no value, `isfm_data` is null, and `error` and `code` say why; what is not valid or took too long has these alone.
         * @example {
         *       "id": "field-1",
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "release": "isfm-eth-wheat-2026-07-v1",
         *       "synthetic": false,
         *       "isfm_data": [
         *         {
         *           "isfm_type": "Compost",
         *           "scenario": "Normal",
         *           "rate_tons_ha": 6.42,
         *           "min": 6.1,
         *           "max": 6.8,
         *           "stddev": 0.17,
         *           "covered_percent": 100,
         *           "total_tons": 77120.25
         *         }
         *       ]
         *     }
         */
        PolygonIsfmItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            /** @description Of a polygon that is not valid: its name, if it has one. */
            sent?: {
                name?: string;
            };
            location?: components["schemas"]["PolygonLocation"];
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period?: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month?: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            isfm_data?: components["schemas"]["PolygonIsfmEntry"][] | null;
            quantities?: components["schemas"]["Quantities"];
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        /**
         * @description What `POST /advisory/forage` answers, with the polygon's `id`, or the code of the area. Where there is no value, `forage_data` is null, and `error` and `code` say why; what is not valid or took too long has these alone.
         * @example {
         *       "id": "field-1",
         *       "location": {
         *         "name": "My farm",
         *         "lat": 9.55,
         *         "lng": 38.55,
         *         "type": "polygon",
         *         "area_ha": 12012.5
         *       },
         *       "release": "forage-ken-v1",
         *       "synthetic": false,
         *       "forage_data": [
         *         {
         *           "forage_variety": "Chloris gayana",
         *           "suitability_score": 0.4181,
         *           "min": 0.395,
         *           "max": 0.441,
         *           "stddev": 0.0112,
         *           "covered_percent": 100
         *         }
         *       ]
         *     }
         */
        PolygonForageItem: {
            /**
             * @description Whatever tells the points of a call apart, given back as it was sent.
             * @example field-1
             */
            id?: string | number;
            /** @description Of a polygon that is not valid: its name, if it has one. */
            sent?: {
                name?: string;
            };
            location?: components["schemas"]["PolygonLocation"];
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release?: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic?: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description Null where there is no value: see `error`. */
            forage_data?: components["schemas"]["PolygonForageEntry"][] | null;
            /** @description What went wrong, as a sentence for people. */
            error?: string;
            code?: components["schemas"]["ErrorCode"];
            details?: components["schemas"]["ErrorDetail"][];
        };
        YieldPolygonsResponse: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each polygon or area, in their order. */
            items: components["schemas"]["PolygonYieldItem"][];
        };
        FertilizerPolygonsResponse: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each polygon or area, in their order. */
            items: components["schemas"]["PolygonFertilizerItem"][];
        };
        IsfmPolygonsResponse: {
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
             * @example July 2026
             */
            forecast_period: string;
            /**
             * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
             * @example 2026-07
             */
            forecast_month: string;
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each polygon or area, in their order. */
            items: components["schemas"]["PolygonIsfmItem"][];
        };
        ForagePolygonsResponse: {
            /**
             * @description The code of the release that answered, as in `GET /catalog`.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
            stale?: boolean;
            /** @description One for each polygon or area, in their order. */
            items: components["schemas"]["PolygonForageItem"][];
        };
        /** @description How much of an area has values of a release. */
        CoverageOfProduct: {
            /**
             * @description What it is advice on.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            crop: string | null;
            /** @description Null where none is published. */
            release: string | null;
            /** @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. As `YYYY-MM`. */
            forecast_period: string | null;
            /**
             * @description How much of the area has values: of the layer that has most of them.
             * @example 98.2
             */
            covered_percent: number;
            /**
             * @description Why the area has no value at all: nothing is published; the country offers no such crop; the area lies outside the grid of the release; its pixels in the area have no value.
             * @enum {string}
             */
            code?: "NO_RELEASE" | "CROP_NOT_AVAILABLE" | "OUTSIDE_GRID" | "NO_DATA";
            /**
             * @description The same as a sentence.
             * @example No yield predictions of wheat for Ethiopia have been published yet.
             */
            reason?: string;
        };
        /** @description What there is for an administrative area. */
        CoverageOfArea: {
            /** @example eth */
            country_code: string;
            /** @example 1 */
            level: number;
            /** @example ETH-01 */
            code: string;
            name: string;
            /** @description By product and crop; the newest month first. */
            products: components["schemas"]["CoverageOfProduct"][];
        };
        CoverageList: {
            /** @description By country, in the order of their codes. */
            items: components["schemas"]["CoverageOfArea"][];
            /** @description The `cursor` of the next page; null where this is the last one. */
            next_cursor: string | null;
        };
        /** @description Which changes are told. A value that comes or goes always is. */
        ChangeThreshold: {
            /**
             * @description `absolute`: in the unit of the product. `relative`: in percent of the value that was told before.
             * @enum {string}
             */
            kind: "absolute" | "relative";
            /**
             * @description By more than so much a value has to change; with 0 by anything.
             * @example 10
             */
            value: number;
        };
        SubscribedPlace: {
            /**
             * @description What kind of place it is.
             * @enum {string}
             */
            type: "point" | "polygon" | "area";
            /**
             * @description Of a point.
             * @example 9.5
             */
            lat?: number;
            /**
             * @description Of a point.
             * @example 38.5
             */
            lng?: number;
            /** @description Of a polygon, as GeoJSON. */
            geometry?: {
                [key: string]: unknown;
            };
            /**
             * @description Of an area.
             * @example ETH-01
             */
            code?: string;
            /** @description Of an area; null where it was not said. */
            level?: number | null;
        };
        /** @description What was told of a layer last. */
        WatchedValue: {
            /**
             * @description The input or variety; null where layers differ in their scenario alone.
             * @example Urea
             */
            input: string | null;
            /**
             * @description Null where the product has none.
             * @example Normal
             */
            scenario: string | null;
            /**
             * @description Of a polygon or an area it is the mean.
             * @example 2464
             */
            value: number;
        };
        /** @description A new secret; deliveries are signed with the one before, too, for a day. */
        WebhookSecret: {
            /**
             * @description What deliveries are signed with (Standard Webhooks). Keep it now: it is never shown again, and can be renewed.
             * @example whsec_bWFkZSBmb3IgdGhlIGRvY3VtZW50YXRpb24h
             */
            secret: string;
        };
        /**
         * @description A place - a point, a polygon or an administrative area - and which changes of its values are told to whom.
         * @example {
         *       "product": "yield",
         *       "crop": "wheat",
         *       "name": "My field",
         *       "threshold": {
         *         "kind": "relative",
         *         "value": 10
         *       },
         *       "url": "https://hooks.example.org/agro",
         *       "lat": 9.5,
         *       "lng": 38.5,
         *       "country_code": "eth"
         *     }
         * @example {
         *       "product": "yield",
         *       "crop": "wheat",
         *       "name": "My field",
         *       "threshold": {
         *         "kind": "relative",
         *         "value": 10
         *       },
         *       "url": "https://hooks.example.org/agro",
         *       "admin": {
         *         "country_code": "eth",
         *         "code": "ETH-01"
         *       }
         *     }
         */
        SubscriptionRequest: {
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng: number;
            /**
             * @description Of which product values are watched.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /** @description Of which month; the newest at any time when left out. */
            forecast_period?: string | null;
            /**
             * @description A label, which is sent along.
             * @example My field
             */
            name?: string | null;
            /** @description Which input or variety alone is watched, as entries name it; all when left out. */
            input?: string | null;
            /**
             * @description Which scenario alone is watched; all when left out.
             * @example Normal
             */
            scenario?: string | null;
            threshold: components["schemas"]["ChangeThreshold"];
            /**
             * @description Where changes are sent: an `https` address at port 443, of a host that is public. Redirects are not followed.
             * @example https://hooks.example.org/agro
             */
            url: string;
        } | {
            geometry: components["schemas"]["PolygonGeometry"];
            /**
             * @description Of which product values are watched.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /** @description Of which month; the newest at any time when left out. */
            forecast_period?: string | null;
            /**
             * @description A label, which is sent along.
             * @example My field
             */
            name?: string | null;
            /** @description Which input or variety alone is watched, as entries name it; all when left out. */
            input?: string | null;
            /**
             * @description Which scenario alone is watched; all when left out.
             * @example Normal
             */
            scenario?: string | null;
            threshold: components["schemas"]["ChangeThreshold"];
            /**
             * @description Where changes are sent: an `https` address at port 443, of a host that is public. Redirects are not followed.
             * @example https://hooks.example.org/agro
             */
            url: string;
        } | {
            admin: components["schemas"]["AdminSelection"];
            /**
             * @description Of which product values are watched.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /**
             * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
             * @example wheat
             */
            crop?: string | null;
            /**
             * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
             * @example eth
             */
            country_code?: string | null;
            /** @description Of which month; the newest at any time when left out. */
            forecast_period?: string | null;
            /**
             * @description A label, which is sent along.
             * @example My field
             */
            name?: string | null;
            /** @description Which input or variety alone is watched, as entries name it; all when left out. */
            input?: string | null;
            /**
             * @description Which scenario alone is watched; all when left out.
             * @example Normal
             */
            scenario?: string | null;
            threshold: components["schemas"]["ChangeThreshold"];
            /**
             * @description Where changes are sent: an `https` address at port 443, of a host that is public. Redirects are not followed.
             * @example https://hooks.example.org/agro
             */
            url: string;
        };
        /** @description Who is told of which changes, without the secret. */
        Subscription: {
            /** Format: uuid */
            id: string;
            /**
             * @description The label; empty where none was given.
             * @example My field
             */
            name: string;
            /**
             * @description Of which product values are watched.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /** @example eth */
            country_code: string;
            /**
             * @description Null where the product needs none.
             * @example wheat
             */
            crop: string | null;
            /** @description As `YYYY-MM`; null for the newest at any time. */
            forecast_month: string | null;
            place: components["schemas"]["SubscribedPlace"];
            /** @description Null for all. */
            input: string | null;
            /** @description Null for all. */
            scenario: string | null;
            threshold: components["schemas"]["ChangeThreshold"];
            /**
             * @description Of the values, and of an absolute threshold.
             * @example kg/ha
             */
            unit: string;
            /** @example https://hooks.example.org/agro */
            url: string;
            /**
             * @description Whether changes are told.
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description `gone`: the target answered 410. `failing`: something could not be delivered for a day. `secret_lost`: the service cannot read the secret any more; have it renewed. `POST /subscriptions/{id}/enable` enables it again. Null while it is active.
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | "secret_lost" | null;
            /**
             * Format: date-time
             * @description Since when deliveries have failed; null where the last one arrived. Why they fail is not told: the log of the target knows.
             * @example 2026-07-01T08:30:00.000Z
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When something arrived last; null where nothing did.
             * @example 2026-07-01T08:30:00.000Z
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * @description The release that the values were last compared with; null where none answered.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string | null;
            /** @description What was told last, or answered when it was subscribed: changes are measured from there, so that small steps add up. */
            values: components["schemas"]["WatchedValue"][];
        };
        /** @description A subscription that was just made. */
        NewSubscription: {
            /** Format: uuid */
            id: string;
            /**
             * @description The label; empty where none was given.
             * @example My field
             */
            name: string;
            /**
             * @description Of which product values are watched.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /** @example eth */
            country_code: string;
            /**
             * @description Null where the product needs none.
             * @example wheat
             */
            crop: string | null;
            /** @description As `YYYY-MM`; null for the newest at any time. */
            forecast_month: string | null;
            place: components["schemas"]["SubscribedPlace"];
            /** @description Null for all. */
            input: string | null;
            /** @description Null for all. */
            scenario: string | null;
            threshold: components["schemas"]["ChangeThreshold"];
            /**
             * @description Of the values, and of an absolute threshold.
             * @example kg/ha
             */
            unit: string;
            /** @example https://hooks.example.org/agro */
            url: string;
            /**
             * @description Whether changes are told.
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description `gone`: the target answered 410. `failing`: something could not be delivered for a day. `secret_lost`: the service cannot read the secret any more; have it renewed. `POST /subscriptions/{id}/enable` enables it again. Null while it is active.
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | "secret_lost" | null;
            /**
             * Format: date-time
             * @description Since when deliveries have failed; null where the last one arrived. Why they fail is not told: the log of the target knows.
             * @example 2026-07-01T08:30:00.000Z
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When something arrived last; null where nothing did.
             * @example 2026-07-01T08:30:00.000Z
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * @description The release that the values were last compared with; null where none answered.
             * @example yield-eth-wheat-2026-07-v1
             */
            release: string | null;
            /** @description What was told last, or answered when it was subscribed: changes are measured from there, so that small steps add up. */
            values: components["schemas"]["WatchedValue"][];
            /**
             * @description What deliveries are signed with (Standard Webhooks). Keep it now: it is never shown again, and can be renewed.
             * @example whsec_bWFkZSBmb3IgdGhlIGRvY3VtZW50YXRpb24h
             */
            secret: string;
        };
        /** @description The own subscriptions, the newest first. */
        SubscriptionList: {
            items: components["schemas"]["Subscription"][];
            /** @description Always null: there are never more. */
            next_cursor: null;
        };
        /** @description An administrative area by its name. */
        AdminReference: {
            /**
             * @description 0 is the country.
             * @example 1
             */
            level: number;
            /**
             * @description Stable: what to ask for it by.
             * @example RWA-02
             */
            code: string;
            /** @example Southern Province */
            name: string;
        };
        /**
         * @description A point to look at. Fields that are not listed are ignored.
         * @example {
         *       "lat": -1.95,
         *       "lng": 30.06,
         *       "country_code": "rwa"
         *     }
         */
        LocationRequest: {
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng: number;
            /**
             * @description The country that the point should lie in, in any case: one of `eth`, `rwa`, `ken`, `gha`. The one it lies in when left out.
             * @example rwa
             */
            country_code?: string | null;
            /**
             * @description The crop that the products are wanted for. The first one of the country when left out.
             * @example potato
             */
            crop?: string | null;
        };
        /** @description Some fields of a request, where the query has the others. */
        LocationRemainder: {
            /**
             * @description Latitude in decimal degrees (WGS 84).
             * @example 9.5
             */
            lat?: number;
            /**
             * @description Longitude in decimal degrees (WGS 84).
             * @example 38.5
             */
            lng?: number;
            /**
             * @description The country that the point should lie in, in any case: one of `eth`, `rwa`, `ken`, `gha`. The one it lies in when left out.
             * @example rwa
             */
            country_code?: string | null;
            /**
             * @description The crop that the products are wanted for. The first one of the country when left out.
             * @example potato
             */
            crop?: string | null;
        };
        ProductAvailability: {
            /** @description Whether the point endpoint of the product has a value there. */
            available: boolean;
            /**
             * @description Why not: the code of the error that the point endpoint would answer with.
             * @enum {string}
             */
            reason?: "CROP_NOT_AVAILABLE" | "NO_RELEASE" | "OUTSIDE_COUNTRY" | "NO_DATA";
        };
        /**
         * @example {
         *       "valid": true,
         *       "country_code": "rwa",
         *       "country": "Rwanda",
         *       "admin": [
         *         {
         *           "level": 1,
         *           "code": "RWA-01",
         *           "name": "City of Kigali"
         *         },
         *         {
         *           "level": 2,
         *           "code": "RWA-01-01",
         *           "name": "Nyarugenge"
         *         }
         *       ],
         *       "crop": "potato",
         *       "products": {
         *         "yield": {
         *           "available": true
         *         },
         *         "fertilizer": {
         *           "available": true
         *         },
         *         "isfm": {
         *           "available": false,
         *           "reason": "NO_RELEASE"
         *         },
         *         "forage": {
         *           "available": true
         *         }
         *       }
         *     }
         */
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
            /** @description Stable: what to ask for it by. */
            code: string;
            name: string;
            /**
             * @description 0 is the country.
             * @example 1
             */
            level: number;
            country_code: string;
            /** @description The areas it lies in, from the country down to the one right above. */
            parents: components["schemas"]["AdminReference"][];
            /**
             * @description Square kilometres.
             * @example 5963
             */
            area_km2: number;
            /**
             * @description West, south, east and north in decimal degrees.
             * @example [
             *       29.02,
             *       -2.84,
             *       30.9,
             *       -1.05
             *     ]
             */
            bbox: number[];
            /** @description The centre of mass, which may lie outside of a bent area. */
            centroid: {
                lat: number;
                lng: number;
            };
            geometry?: components["schemas"]["MultiPolygon"];
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "code": "RWA-01",
         *           "name": "City of Kigali",
         *           "level": 1,
         *           "country_code": "rwa",
         *           "parents": [
         *             {
         *               "level": 0,
         *               "code": "RWA",
         *               "name": "Rwanda"
         *             }
         *           ],
         *           "area_km2": 730.21,
         *           "bbox": [
         *             29.98,
         *             -2.08,
         *             30.28,
         *             -1.78
         *           ],
         *           "centroid": {
         *             "lat": -1.93,
         *             "lng": 30.13
         *           }
         *         }
         *       ],
         *       "next_cursor": null
         *     }
         */
        AdminAreaList: {
            /** @description In the order of their codes. */
            items: components["schemas"]["AdminArea"][];
            /**
             * @description The `cursor` of the next page; null where this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        CatalogCountry: {
            /** @example eth */
            code: string;
            /** @example Ethiopia */
            name: string;
            /**
             * @description Codes of the crops it offers; forage needs none.
             * @example [
             *       "wheat"
             *     ]
             */
            crops: string[];
        };
        CatalogCrop: {
            /** @example wheat */
            code: string;
            /** @example Wheat */
            name: string;
        };
        /** @description What the values of a product say. */
        CatalogValue: {
            /**
             * @description Its name in an entry of an answer.
             * @example yield_kg_ha
             */
            key: string;
            /** @example kg/ha */
            unit: string;
            /** @example The predicted yield, in kilograms per hectare. */
            description: string;
        };
        CatalogProduct: {
            /**
             * @description What a release gives advice on.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /**
             * @description The unit of its values.
             * @example kg/ha
             */
            unit: string;
            value: components["schemas"]["CatalogValue"];
            needs_crop: boolean;
            /**
             * @description Its point endpoint.
             * @example /advisory/yield/point
             */
            path: string;
        };
        /** @description What a scenario says of the season. */
        CatalogScenario: {
            /** @example Normal */
            scenario: string;
            description: string;
        };
        /** @description What a word of the answers means. */
        CatalogTerm: {
            /** @example forecast_month */
            term: string;
            description: string;
        };
        /** @description A grid that layers of the release are on. */
        CatalogGrid: {
            /**
             * @description EPSG code of the CRS.
             * @example 4326
             */
            srid: number;
            /**
             * @description Pixels.
             * @example 1500
             */
            width: number;
            /**
             * @description Pixels.
             * @example 1150
             */
            height: number;
            /** @description How large a pixel of a grid is. The answer for a point is the value of the pixel that it lies in, so nothing smaller than a pixel can be told apart. */
            resolution: {
                /** @example 0.01 */
                x: number;
                /** @example 0.01 */
                y: number;
                /**
                 * @description The unit of the CRS.
                 * @example degree
                 */
                unit: string;
                /**
                 * @description About how many metres a pixel has from west to east, in the middle of the grid. Null where the CRS is not known.
                 * @example 1094
                 */
                metres_x: number | null;
                /**
                 * @description About how many metres a pixel has from south to north, in the middle of the grid. Null where the CRS is not known.
                 * @example 1106
                 */
                metres_y: number | null;
            };
            /**
             * @description West, south, east and north in decimal degrees.
             * @example [
             *       33,
             *       3.4,
             *       48,
             *       14.9
             *     ]
             */
            extent: number[];
        };
        /** @description The smallest and the largest value of a release, in its unit. */
        CatalogRange: {
            min: number;
            max: number;
        };
        CatalogRelease: {
            /** @example yield-eth-wheat-2026-07-v1 */
            release: string;
            /**
             * @description What a release gives advice on.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /** @example eth */
            country_code: string;
            crop: string | null;
            /**
             * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. As `YYYY-MM`: what to ask for it by. None for forage.
             * @example 2026-07
             */
            forecast_period: string | null;
            /** @description Counts the releases for the same product, country, crop and month. */
            version: number;
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /**
             * @description Only there, and true, where the release is made of rasters that were compressed with loss, such as JPEG: values may differ from those of its source.
             * @enum {boolean}
             */
            lossy?: true;
            /**
             * @description The last day (UTC) of its season; null where it has none.
             * @example 2027-07-31
             */
            valid_until: string | null;
            /**
             * @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are.
             * @enum {boolean}
             */
            stale?: true;
            /**
             * @description Fertilizers, organic inputs or species.
             * @example [
             *       "DAP",
             *       "Urea"
             *     ]
             */
            inputs: string[];
            /**
             * @example [
             *       "Normal",
             *       "Below Normal"
             *     ]
             */
            scenarios: string[];
            /**
             * @example [
             *       "kg/ha"
             *     ]
             */
            units: string[];
            /** @description Null where it has no value. */
            range: components["schemas"]["CatalogRange"] | null;
            grids: components["schemas"]["CatalogGrid"][];
            /** @example Ministry of Agriculture, agronomy model 4.2 */
            source: string;
            /** @example CC BY 4.0 */
            licence: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            published_at: string;
        };
        /** @description The administrative areas of one level of a country. */
        CatalogBoundaries: {
            /** @example rwa */
            country_code: string;
            /** @description 0 is the country itself. */
            level: number;
            /** @description How many there are. */
            areas: number;
            /** @description Made by this project for demonstration. Not boundaries. */
            approximate: boolean;
            /** @example Natural Earth */
            source: string;
            /** @example Public domain */
            licence: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            loaded_at: string;
        };
        Catalog: {
            countries: components["schemas"]["CatalogCountry"][];
            crops: components["schemas"]["CatalogCrop"][];
            products: components["schemas"]["CatalogProduct"][];
            /** @description The usual ones, in the order of answers; releases may have others. */
            scenarios: components["schemas"]["CatalogScenario"][];
            glossary: components["schemas"]["CatalogTerm"][];
            releases: components["schemas"]["CatalogRelease"][];
            boundaries: components["schemas"]["CatalogBoundaries"][];
        };
        /** @description A layer of a release. */
        ReleaseLayer: {
            /**
             * @description Its number, in the order of answers.
             * @example 1
             */
            layer: number;
            /** @description The fertilizer, organic input or species; null where the product has none. */
            input: string | null;
            scenario: string | null;
            /** @example kg/ha */
            unit: string;
            /**
             * @description To so many digits its values are rounded.
             * @example 0
             */
            decimals: number;
            /**
             * @description Value = pixel * `scale` + `offset`.
             * @example 1
             */
            scale: number;
            /** @example 0 */
            offset: number;
            /**
             * @description How pixels are stored, in the words of PostGIS.
             * @example 32BF
             */
            pixel_type: string;
            /**
             * @description Which of the `grids` it is on, from 1.
             * @example 1
             */
            grid: number;
            /**
             * @description How many pixels have a value.
             * @example 1182114
             */
            pixels: number;
            minimum: number | null;
            maximum: number | null;
            /** @description Of the pixels; null where none has a value. */
            mean: number | null;
        };
        /** @description When a release was published. */
        ReleasePeriod: {
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            from: string;
            /** @description Null while it is published. */
            to: string | null;
        };
        /** @description What is known of a release. */
        ReleaseSummary: {
            /** @example yield-eth-wheat-2026-07-v1 */
            release: string;
            /**
             * @description What it gives advice on.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /** @example eth */
            country_code: string;
            crop: string | null;
            /** @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. As `YYYY-MM`. None for forage. */
            forecast_period: string | null;
            /**
             * @description Counts the releases for the same product, country, crop and month.
             * @example 1
             */
            version: number;
            /**
             * @description `published`: it answers now. `replaced`: it was published, and answers where it is named. `unpublished`: it never was; admins alone see it. `deleted`: its values are gone, and what is said of it is all that is left. `incomplete`: it is being loaded, or its load was cut off; admins alone see it, where they ask for it.
             * @enum {string}
             */
            state: "published" | "replaced" | "unpublished" | "deleted" | "incomplete";
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /**
             * @description Only there, and true, where the release is made of rasters that were compressed with loss, such as JPEG: values may differ from those of its source.
             * @enum {boolean}
             */
            lossy?: true;
            /** @description The last day (UTC) of its season; null where it has none. */
            valid_until: string | null;
            /**
             * @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are.
             * @enum {boolean}
             */
            stale?: true;
            /** @example Ministry of Agriculture, agronomy model 4.2 */
            source: string;
            /** @example CC BY 4.0 */
            licence: string;
            /**
             * @description SHA-256 of the definitions of its layers and of the files that it was loaded from.
             * @example 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
             */
            checksum: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            loaded_at: string;
            /** @description When it was first published; null where it never was. */
            published_from: string | null;
            /** @description When it was last replaced, withdrawn or deleted; null where it is published or never was. */
            published_to: string | null;
            /** @description Null where it is there, or that was not recorded. */
            deleted_at: string | null;
            /**
             * @description Of an `incomplete` one, whether a process still loads it; `loaded_at` is when that began. `cut_off`: none does, and the next load of the same data clears away what is left. `unknown`: an older version has begun it, which does not say.
             * @enum {string}
             */
            load?: "running" | "cut_off" | "unknown";
        };
        /** @description All that is known of a release. */
        ReleaseDescription: {
            /** @example yield-eth-wheat-2026-07-v1 */
            release: string;
            /**
             * @description What it gives advice on.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage";
            /** @example eth */
            country_code: string;
            crop: string | null;
            /** @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. As `YYYY-MM`. None for forage. */
            forecast_period: string | null;
            /**
             * @description Counts the releases for the same product, country, crop and month.
             * @example 1
             */
            version: number;
            /**
             * @description `published`: it answers now. `replaced`: it was published, and answers where it is named. `unpublished`: it never was; admins alone see it. `deleted`: its values are gone, and what is said of it is all that is left.
             * @enum {string}
             */
            state: "published" | "replaced" | "unpublished" | "deleted";
            /** @description Whether the release is demonstration data, made by a formula. Not advice. */
            synthetic: boolean;
            /**
             * @description Only there, and true, where the release is made of rasters that were compressed with loss, such as JPEG: values may differ from those of its source.
             * @enum {boolean}
             */
            lossy?: true;
            /** @description The last day (UTC) of its season; null where it has none. */
            valid_until: string | null;
            /**
             * @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are.
             * @enum {boolean}
             */
            stale?: true;
            /** @example Ministry of Agriculture, agronomy model 4.2 */
            source: string;
            /** @example CC BY 4.0 */
            licence: string;
            /**
             * @description SHA-256 of the definitions of its layers and of the files that it was loaded from.
             * @example 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
             */
            checksum: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            loaded_at: string;
            /** @description When it was first published; null where it never was. */
            published_from: string | null;
            /** @description When it was last replaced, withdrawn or deleted; null where it is published or never was. */
            published_to: string | null;
            /** @description Null where it is there, or that was not recorded. */
            deleted_at: string | null;
            /** @description When it was published, the first time first: it may have been rolled back to. */
            periods: components["schemas"]["ReleasePeriod"][];
            /** @description None where it is deleted. */
            grids: components["schemas"]["CatalogGrid"][];
            /** @description In the order of answers. None where it is deleted. */
            layers: components["schemas"]["ReleaseLayer"][];
        };
        ReleaseList: {
            /** @description In the order of their codes. */
            items: components["schemas"]["ReleaseSummary"][];
            /** @description The `cursor` of the next page; null where this is the last one. */
            next_cursor: string | null;
        };
        /** @description What becomes of a layer in all areas together. Percentages are of the area. */
        LayerChange: {
            /** @example Urea */
            input: string | null;
            /** @example Normal */
            scenario: string | null;
            /** @example kg/ha */
            unit: string;
            /**
             * @description The mean, weighted by area; null where there was no value.
             * @example 2104.5
             */
            mean_before: number | null;
            /**
             * @description The mean; null where there is no value.
             * @example 2210.25
             */
            mean_after: number | null;
            /**
             * @description The mean after minus the mean before.
             * @example 105.75
             */
            change: number | null;
            /**
             * @description The same in percent of the mean before; null where that is 0 or missing.
             * @example 5.0249
             */
            change_percent: number | null;
            /**
             * @description How much of the area had values.
             * @example 98.2
             */
            covered_before_percent: number;
            /**
             * @description How much of the area has values.
             * @example 97.5
             */
            covered_after_percent: number;
            /**
             * @description How much of the area has values and had none; at least, where `exact` is false. Null where the releases have the layer on different grids.
             * @example 0.1
             */
            gained_percent: number | null;
            /**
             * @description How much of the area had values and has none; at least, where `exact` is false. Null where the releases have the layer on different grids.
             * @example 0.8
             */
            lost_percent: number | null;
            /**
             * @description How much of the area has values that differ by more than the threshold. Null where the releases have the layer on different grids.
             * @example 12.5
             */
            changed_percent: number | null;
            /**
             * @description A bound of that: no less. Null where the releases have the layer on different grids.
             * @example 9.75
             */
            changed_percent_least: number | null;
            /**
             * @description A bound of that: no more. Null where the releases have the layer on different grids.
             * @example 14.25
             */
            changed_percent_most: number | null;
        };
        /** @description What becomes of a layer in an area. Percentages are of the area. */
        AreaChange: {
            /** @example ETH-01 */
            code: string;
            /** @example Tigray */
            name: string;
            /** @example Urea */
            input: string | null;
            /** @example Normal */
            scenario: string | null;
            /** @example kg/ha */
            unit: string;
            /**
             * @description The mean, weighted by area; null where there was no value.
             * @example 2104.5
             */
            mean_before: number | null;
            /**
             * @description The mean; null where there is no value.
             * @example 2210.25
             */
            mean_after: number | null;
            /**
             * @description The mean after minus the mean before.
             * @example 105.75
             */
            change: number | null;
            /**
             * @description The same in percent of the mean before; null where that is 0 or missing.
             * @example 5.0249
             */
            change_percent: number | null;
            /**
             * @description How much of the area had values.
             * @example 98.2
             */
            covered_before_percent: number;
            /**
             * @description How much of the area has values.
             * @example 97.5
             */
            covered_after_percent: number;
            /**
             * @description How much of the area has values and had none; at least, where `exact` is false. Null where the releases have the layer on different grids.
             * @example 0.1
             */
            gained_percent: number | null;
            /**
             * @description How much of the area had values and has none; at least, where `exact` is false. Null where the releases have the layer on different grids.
             * @example 0.8
             */
            lost_percent: number | null;
            /**
             * @description How much of the area has values that differ by more than the threshold. Null where the releases have the layer on different grids.
             * @example 12.5
             */
            changed_percent: number | null;
            /**
             * @description A bound of that: no less. Null where the releases have the layer on different grids.
             * @example 9.75
             */
            changed_percent_least: number | null;
            /**
             * @description A bound of that: no more. Null where the releases have the layer on different grids.
             * @example 14.25
             */
            changed_percent_most: number | null;
        };
        ReleaseChanges: {
            /** @example yield-eth-wheat-2026-07-v1 */
            before: string;
            /** @example yield-eth-wheat-2026-07-v2 */
            after: string;
            /**
             * @description Of the areas; null where none are loaded, and all that the releases cover is one.
             * @example 2
             */
            level: number | null;
            /** @example 10 */
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
            /**
             * @description Larger than those of all entries before.
             * @example 42
             */
            id: number;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            at: string;
            /**
             * @description `published`: the release answers from now on. `rolled_back`: it does so again, in the place of a newer one. `withdrawn`: it answers no more, and nothing has taken its place. `deleted`: it is gone for good. `boundaries_loaded`: the administrative areas of a level are others.
             * @enum {string}
             */
            kind: "published" | "rolled_back" | "withdrawn" | "deleted" | "boundaries_loaded";
            /**
             * @description The code of the release; null for boundaries.
             * @example yield-eth-wheat-2026-07-v2
             */
            release: string | null;
            /**
             * @description The code of the release that answered before it; null where none did.
             * @example yield-eth-wheat-2026-07-v1
             */
            replaced: string | null;
            /**
             * @description What it is on; null for boundaries.
             * @example yield
             */
            product: string | null;
            /** @example eth */
            country_code: string;
            /**
             * @description Null where the product needs none, and for boundaries.
             * @example wheat
             */
            crop: string | null;
            /**
             * @description As `YYYY-MM`; null where the product has no seasons, and for boundaries.
             * @example 2026-07
             */
            forecast_month: string | null;
            /** @description Whether its values are made up; null for boundaries. */
            synthetic: boolean | null;
            /** @description Of the boundaries; null for releases. */
            level: number | null;
        };
        /** @description What has changed, in the order in which it did. */
        ChangeFeed: {
            /** @description The newest last. */
            items: components["schemas"]["ChangeEntry"][];
            /**
             * @description Send it as `since` the next time. It is the id of the last item, or the `since` of the request where there is none.
             * @example 42
             */
            next_since: number;
            /** @description Whether there are more already. */
            more: boolean;
        };
        /** @description How well a scenario has predicted what was observed. */
        ScenarioScore: {
            /**
             * @description Null where the product has none.
             * @example Normal
             */
            scenario: string | null;
            /**
             * @description How many observations.
             * @example 128
             */
            count: number;
            /**
             * @description The mean of predicted minus observed: above 0 where too much is predicted.
             * @example -112.5
             */
            bias: number;
            /**
             * @description The root of the mean square of these differences.
             * @example 420.1
             */
            rmse: number;
            /**
             * @description The mean of their sizes.
             * @example 340.7
             */
            mae: number;
            /**
             * @description Spearman’s, of -1 to 1, equal values having the mean of their ranks: whether what is predicted higher is higher. Null where all are equal.
             * @example 0.71
             */
            rank_correlation: number | null;
        };
        /** @description The same in an area. */
        DistrictScore: {
            /** @example ETH-01 */
            code: string;
            /** @example Tigray */
            name: string;
            /**
             * @description Null where the product has none.
             * @example Normal
             */
            scenario: string | null;
            /**
             * @description How many observations.
             * @example 128
             */
            count: number;
            /**
             * @description The mean of predicted minus observed: above 0 where too much is predicted.
             * @example -112.5
             */
            bias: number;
            /**
             * @description The root of the mean square of these differences.
             * @example 420.1
             */
            rmse: number;
            /**
             * @description The mean of their sizes.
             * @example 340.7
             */
            mae: number;
            /**
             * @description Spearman’s, of -1 to 1, equal values having the mean of their ranks: whether what is predicted higher is higher. Null where all are equal.
             * @example 0.71
             */
            rank_correlation: number | null;
        };
        /** @description What a release has predicted, held against what was observed. */
        Scorecard: {
            /** @example yield-eth-wheat-2026-07-v1 */
            release: string;
            /** @example yield */
            product: string;
            /**
             * @description Of bias, RMSE and MAE.
             * @example kg/ha
             */
            unit: string;
            /** @description Of the areas. */
            level: number;
            /** @description How many observations were given in feedback to answers of the release. */
            from_feedback: number;
            /** @description How many were given in a file; 0 in answers of the API. */
            from_file: number;
            /** @description Of all these, how many the release has no value for. */
            without_value: number;
            /**
             * @description Of fewer accounts nothing is shown; each row of a file counts as one.
             * @example 5
             */
            smallest_group: number;
            scenarios: components["schemas"]["ScenarioScore"][];
            /** @description In the order of their codes. */
            districts: components["schemas"]["DistrictScore"][];
            /** @description How many scenarios of areas have too few, or would give away those that have. */
            withheld_groups: number;
        };
        /** @description What a colour of the map says. */
        MapClass: {
            /**
             * @description Where it begins.
             * @example 2400
             */
            from: number;
            /**
             * @description Where it ends: the next one begins there. The last one has its end, too.
             * @example 2900
             */
            to: number;
            /** @example #21918c */
            color: string;
        };
        /** @description A layer of a release as a map: TileJSON 2.2.0, with a legend. */
        Tileset: {
            /**
             * @description The version of TileJSON that this is.
             * @enum {string}
             */
            tilejson: "2.2.0";
            /** @example synthetic-yield-eth-wheat-2026-07-v1, Normal */
            name: string;
            /** @enum {string} */
            scheme: "xyz";
            /**
             * @description Where its tiles are: PNG of 256 x 256 pixels in Web Mercator.
             * @example [
             *       "https://advice.example.org/releases/synthetic-yield-eth-wheat-2026-07-v1/layers/2/tiles/{z}/{x}/{y}"
             *     ]
             */
            tiles: string[];
            /** @example 0 */
            minzoom: number;
            /**
             * @description Where its pixels are larger than those of the map: from there on, tiles may be enlarged.
             * @example 10
             */
            maxzoom: number;
            /**
             * @description West, south, east and north in decimal degrees.
             * @example [
             *       33,
             *       3.4,
             *       48,
             *       14.9
             *     ]
             */
            bounds: number[];
            /** @description Source and licence. */
            attribution: string;
            /**
             * @description The code of a published release, as `GET /catalog` has it.
             * @example synthetic-yield-eth-wheat-2026-07-v1
             */
            release: string;
            /**
             * @description Which of its layers, from 1.
             * @example 1
             */
            layer: number;
            /**
             * @description The fertilizer, organic input or species; null for yields.
             * @example null
             */
            input: string | null;
            /**
             * @description The season; null for forage.
             * @example Normal
             */
            scenario: string | null;
            /** @example kg/ha */
            unit: string;
            /**
             * @description How its values are cut into classes.
             * @enum {string}
             */
            cut: "quantiles" | "equal";
            /** @description The legend, from low values to high. Layers of one input share it, so that their scenarios compare. Empty where none of them has a value. */
            classes: components["schemas"]["MapClass"][];
        };
        /** @description The layers of a release as maps. */
        LayerList: {
            /**
             * @description The code of a published release, as `GET /catalog` has it.
             * @example synthetic-yield-eth-wheat-2026-07-v1
             */
            release: string;
            /** @description In the order of the answers. */
            layers: components["schemas"]["Tileset"][];
        };
        /**
         * Format: binary
         * @description A cloud-optimised GeoTIFF of one band.
         */
        GeoTiff: string;
        StacLink: {
            /** @example root */
            rel: string;
            /**
             * Format: uri
             * @example https://advice.example.org/stac
             */
            href: string;
            /** @example application/json */
            type?: string;
            title?: string;
        };
        StacProvider: {
            /** @example CIAT */
            name: string;
            roles: ("producer" | "licensor" | "host")[];
            /**
             * Format: uri
             * @example https://advice.example.org
             */
            url?: string;
        };
        /** @description A STAC Catalog: its children are collections. */
        StacCatalog: {
            /** @enum {string} */
            type: "Catalog";
            /** @enum {string} */
            stac_version: "1.1.0";
            /** @example agro-advisory */
            id: string;
            title: string;
            description: string;
            links: components["schemas"]["StacLink"][];
        };
        /** @description A STAC Collection: the releases of a product in a country. */
        StacCollection: {
            /** @enum {string} */
            type: "Collection";
            /** @enum {string} */
            stac_version: "1.1.0";
            /**
             * @description The id of a collection: a product and a country, as `GET /stac` links them.
             * @example yield-eth
             */
            id: string;
            /** @example Predicted yield in Ethiopia */
            title: string;
            description: string;
            /**
             * @description As it was loaded, where that may be a code of SPDX; `other` where it is a text, which `GET /catalog` has.
             * @example CC-BY-4.0
             */
            license: string;
            providers: components["schemas"]["StacProvider"][];
            extent: {
                spatial: {
                    bbox: number[][];
                };
                temporal: {
                    interval: (string | null)[][];
                };
            };
            links: components["schemas"]["StacLink"][];
        };
        StacBand: {
            /** @example Normal */
            name: string;
            /** @example float32 */
            data_type: string;
            /** @example kg/ha */
            unit: string;
            /**
             * @description Of floats; that of whole numbers is in the file.
             * @example -3.4028234663852886e+38
             */
            nodata?: number;
            statistics?: {
                /** @example 412 */
                minimum: number;
                /** @example 5230 */
                maximum: number;
            };
            /**
             * @description A value is that of the whole of its pixel.
             * @enum {string}
             */
            "raster:sampling": "area";
            /**
             * @description What a pixel is multiplied by.
             * @example 0.1
             */
            "raster:scale"?: number;
            /**
             * @description What is added then.
             * @example 0
             */
            "raster:offset"?: number;
        };
        StacAsset: {
            /**
             * Format: uri
             * @example https://advice.example.org/releases/synthetic-yield-eth-wheat-2026-07-v1/layers/1.tif
             */
            href: string;
            /** @example image/tiff; application=geotiff; profile=cloud-optimized */
            type: string;
            /** @example Normal */
            title: string;
            roles: ("data" | "visual")[];
            bands?: components["schemas"]["StacBand"][];
            /**
             * @description Its CRS; null where that has no code of the EPSG.
             * @example EPSG:4326
             */
            "proj:code"?: string | null;
            /**
             * @description Rows, and pixels in a row.
             * @example [
             *       230,
             *       301
             *     ]
             */
            "proj:shape"?: number[];
            /**
             * @description From columns and rows to the CRS, as a matrix.
             * @example [
             *       0.05,
             *       0,
             *       32.95,
             *       0,
             *       -0.05,
             *       14.9
             *     ]
             */
            "proj:transform"?: number[];
        };
        /** @description A STAC Item: a release, and its layers. */
        StacItem: {
            /** @enum {string} */
            type: "Feature";
            /** @enum {string} */
            stac_version: "1.1.0";
            stac_extensions: string[];
            /**
             * @description The code of a published release.
             * @example synthetic-yield-eth-wheat-2026-07-v1
             */
            id: string;
            /**
             * @description The id of a collection: a product and a country, as `GET /stac` links them.
             * @example yield-eth
             */
            collection: string;
            /**
             * @description West, south, east and north in decimal degrees.
             * @example [
             *       32.95,
             *       3.4,
             *       48,
             *       14.9
             *     ]
             */
            bbox: number[];
            /** @description The extent of its grids. */
            geometry: {
                /** @enum {string} */
                type: "Polygon";
                coordinates: number[][][];
            };
            properties: {
                /** @example Predicted yield of wheat in Ethiopia, July 2026 */
                title: string;
                /**
                 * @description When it was loaded, for what is of no time; null for all else, which begins and ends.
                 * @example null
                 */
                datetime: string | null;
                /**
                 * Format: date-time
                 * @example 2026-07-01T00:00:00.000Z
                 */
                start_datetime?: string;
                /**
                 * Format: date-time
                 * @description The end of its season, or of its month where that is not known.
                 * @example 2027-06-30T23:59:59.000Z
                 */
                end_datetime?: string;
                /**
                 * Format: date-time
                 * @description When it was loaded.
                 * @example 2026-07-01T08:30:00.000Z
                 */
                created: string;
                /**
                 * @description As it was loaded, where that may be a code of SPDX; `other` where it is a text, which `GET /catalog` has.
                 * @example CC-BY-4.0
                 */
                license: string;
                providers: components["schemas"]["StacProvider"][];
                /** @description Whether its values are made by a formula: they are no advice. */
                synthetic: boolean;
            };
            links: components["schemas"]["StacLink"][];
            /** @description `layer-1`: the first layer as GeoTIFF, where the service allows downloads; `map-1`: its tiles as TileJSON. */
            assets: {
                [key: string]: components["schemas"]["StacAsset"];
            };
        };
        /** @description The place; of a polygon, a point inside it. */
        HistoryLocation: {
            name: string;
            lat: number;
            lng: number;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            type: "point" | "polygon";
            /** @description Hectares, of a polygon. */
            area_ha?: number;
            admin?: components["schemas"]["AdvisedArea"];
        };
        /**
         * @description An advisory as it was given.
         * @example {
         *       "id": "3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10",
         *       "created_at": "2026-07-01T08:30:00.000Z",
         *       "kind": "point",
         *       "product": "yield",
         *       "country_code": "eth",
         *       "crop": "wheat",
         *       "releases": [
         *         "yield-eth-wheat-2026-07-v1"
         *       ],
         *       "synthetic": false,
         *       "location": {
         *         "name": "My field",
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "type": "point"
         *       },
         *       "forecast_period": "July 2026",
         *       "forecast_month": "2026-07",
         *       "request": {
         *         "lat": 9.5,
         *         "lng": 38.5,
         *         "name": "My field"
         *       },
         *       "answer": {
         *         "location": {
         *           "name": "My field",
         *           "lat": 9.5,
         *           "lng": 38.5,
         *           "type": "point"
         *         },
         *         "forecast_period": "July 2026",
         *         "forecast_month": "2026-07",
         *         "release": "yield-eth-wheat-2026-07-v1",
         *         "synthetic": false,
         *         "yield_data": [
         *           {
         *             "scenario": "Normal",
         *             "yield_kg_ha": 2464
         *           }
         *         ]
         *       },
         *       "feedback": null
         *     }
         */
        HistoryItem: components["schemas"]["YieldHistoryItem"] | components["schemas"]["FertilizerHistoryItem"] | components["schemas"]["IsfmHistoryItem"] | components["schemas"]["ForageHistoryItem"] | components["schemas"]["EverythingHistoryItem"];
        YieldHistoryItem: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            kind: "point" | "polygon";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            product: "yield";
            /** @example eth */
            country_code: string;
            /** @description None for forage. */
            crop: string | null;
            /** @description The releases that answered, as they were then. */
            releases: string[];
            /** @description Whether one of them is demonstration data. Left out where that is not known any more. */
            synthetic?: boolean;
            location: components["schemas"]["HistoryLocation"];
            /** @example July 2026 */
            forecast_period?: string;
            /**
             * @description The same as `YYYY-MM`.
             * @example 2026-07
             */
            forecast_month?: string;
            /** @description What was asked, as the endpoint took it: its parameters, and of a polygon the type, the longitudes and the latitudes. */
            request: components["schemas"]["PointRequest"] | components["schemas"]["PolygonRequest"];
            /** @description What was answered, without its `history_id`. It never changes. */
            answer: {
                location: components["schemas"]["HistoryLocation"];
                /**
                 * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
                 * @example July 2026
                 */
                forecast_period?: string;
                /**
                 * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
                 * @example 2026-07
                 */
                forecast_month?: string;
                /**
                 * @description The code of the release that answered, as in `GET /catalog`.
                 * @example yield-eth-wheat-2026-07-v1
                 */
                release?: string;
                /** @description Whether the release is demonstration data, made by a formula. Not advice. */
                synthetic?: boolean;
                /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
                stale?: boolean;
                yield_data: (components["schemas"]["PolygonYieldEntry"] | components["schemas"]["YieldEntry"])[];
            };
            /** @description What the caller has said of it. */
            feedback: components["schemas"]["Feedback"] | null;
        };
        FertilizerHistoryItem: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            kind: "point" | "polygon";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            product: "fertilizer";
            /** @example eth */
            country_code: string;
            /** @description None for forage. */
            crop: string | null;
            /** @description The releases that answered, as they were then. */
            releases: string[];
            /** @description Whether one of them is demonstration data. Left out where that is not known any more. */
            synthetic?: boolean;
            location: components["schemas"]["HistoryLocation"];
            /** @example July 2026 */
            forecast_period?: string;
            /**
             * @description The same as `YYYY-MM`.
             * @example 2026-07
             */
            forecast_month?: string;
            /** @description What was asked, as the endpoint took it: its parameters, and of a polygon the type, the longitudes and the latitudes. */
            request: components["schemas"]["PointRequest"] | components["schemas"]["PolygonRequest"];
            /** @description What was answered, without its `history_id`. It never changes. */
            answer: {
                location: components["schemas"]["HistoryLocation"];
                /**
                 * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
                 * @example July 2026
                 */
                forecast_period?: string;
                /**
                 * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
                 * @example 2026-07
                 */
                forecast_month?: string;
                /**
                 * @description The code of the release that answered, as in `GET /catalog`.
                 * @example yield-eth-wheat-2026-07-v1
                 */
                release?: string;
                /** @description Whether the release is demonstration data, made by a formula. Not advice. */
                synthetic?: boolean;
                /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
                stale?: boolean;
                fertilizer_data: (components["schemas"]["PolygonFertilizerEntry"] | components["schemas"]["FertilizerEntry"])[];
            };
            /** @description What the caller has said of it. */
            feedback: components["schemas"]["Feedback"] | null;
        };
        IsfmHistoryItem: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            kind: "point" | "polygon";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            product: "isfm";
            /** @example eth */
            country_code: string;
            /** @description None for forage. */
            crop: string | null;
            /** @description The releases that answered, as they were then. */
            releases: string[];
            /** @description Whether one of them is demonstration data. Left out where that is not known any more. */
            synthetic?: boolean;
            location: components["schemas"]["HistoryLocation"];
            /** @example July 2026 */
            forecast_period?: string;
            /**
             * @description The same as `YYYY-MM`.
             * @example 2026-07
             */
            forecast_month?: string;
            /** @description What was asked, as the endpoint took it: its parameters, and of a polygon the type, the longitudes and the latitudes. */
            request: components["schemas"]["PointRequest"] | components["schemas"]["PolygonRequest"];
            /** @description What was answered, without its `history_id`. It never changes. */
            answer: {
                location: components["schemas"]["HistoryLocation"];
                /**
                 * @description The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source. In English.
                 * @example July 2026
                 */
                forecast_period?: string;
                /**
                 * @description The same month as `YYYY-MM`, for programs: what `forecast_period` of a request takes.
                 * @example 2026-07
                 */
                forecast_month?: string;
                /**
                 * @description The code of the release that answered, as in `GET /catalog`.
                 * @example yield-eth-wheat-2026-07-v1
                 */
                release?: string;
                /** @description Whether the release is demonstration data, made by a formula. Not advice. */
                synthetic?: boolean;
                /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
                stale?: boolean;
                isfm_data: (components["schemas"]["PolygonIsfmEntry"] | components["schemas"]["IsfmEntry"])[];
            };
            /** @description What the caller has said of it. */
            feedback: components["schemas"]["Feedback"] | null;
        };
        ForageHistoryItem: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            kind: "point" | "polygon";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            product: "forage";
            /** @example eth */
            country_code: string;
            /** @description None for forage. */
            crop: string | null;
            /** @description The releases that answered, as they were then. */
            releases: string[];
            /** @description Whether one of them is demonstration data. Left out where that is not known any more. */
            synthetic?: boolean;
            location: components["schemas"]["HistoryLocation"];
            /** @example July 2026 */
            forecast_period?: string;
            /**
             * @description The same as `YYYY-MM`.
             * @example 2026-07
             */
            forecast_month?: string;
            /** @description What was asked, as the endpoint took it: its parameters, and of a polygon the type, the longitudes and the latitudes. */
            request: components["schemas"]["ForagePointRequest"] | components["schemas"]["ForagePolygonRequest"];
            /** @description What was answered, without its `history_id`. It never changes. */
            answer: {
                location: components["schemas"]["HistoryLocation"];
                /**
                 * @description The code of the release that answered, as in `GET /catalog`.
                 * @example yield-eth-wheat-2026-07-v1
                 */
                release?: string;
                /** @description Whether the release is demonstration data, made by a formula. Not advice. */
                synthetic?: boolean;
                /** @description Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are. */
                stale?: boolean;
                forage_data: (components["schemas"]["PolygonForageEntry"] | components["schemas"]["ForageEntry"])[];
            };
            /** @description What the caller has said of it. */
            feedback: components["schemas"]["Feedback"] | null;
        };
        EverythingHistoryItem: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            kind: "point" | "polygon";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            product: "all";
            /** @example eth */
            country_code: string;
            /** @description None for forage. */
            crop: string | null;
            /** @description The releases that answered, as they were then. */
            releases: string[];
            /** @description Whether one of them is demonstration data. Left out where that is not known any more. */
            synthetic?: boolean;
            location: components["schemas"]["HistoryLocation"];
            /** @example July 2026 */
            forecast_period?: string;
            /**
             * @description The same as `YYYY-MM`.
             * @example 2026-07
             */
            forecast_month?: string;
            request: components["schemas"]["PointRequest"];
            answer: components["schemas"]["EverythingResponse"];
            /** @description What the caller has said of it. */
            feedback: components["schemas"]["Feedback"] | null;
        };
        HistoryList: {
            /** @description The newest first. */
            items: components["schemas"]["HistoryItem"][];
            /**
             * @description The `cursor` of the next page; null where this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description Where an item of the history is shown to everybody who knows the address. */
        Share: {
            /**
             * @description The end of its address. Nobody can guess it.
             * @example q3sT0mY1v9xJr8bQ2dKfLw4z
             */
            id: string;
            /**
             * @description Where everybody finds it: a page for browsers, and JSON for programs.
             * @example https://advice.example.org/cite/q3sT0mY1v9xJr8bQ2dKfLw4z
             */
            url: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            shared_at: string;
        };
        /** @description A release that the cited answer was computed from. */
        CitedRelease: {
            /** @example yield-eth-wheat-2026-07-v1 */
            release: string;
            /**
             * @description What has become of it; see `GET /releases/{release}`.
             * @enum {string}
             */
            state: "published" | "replaced" | "unpublished" | "deleted";
            /** @example Ministry of Agriculture, agronomy model 4.2 */
            source: string;
            /** @example CC BY 4.0 */
            licence: string;
            /** @example 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae */
            checksum: string;
        };
        /** @description How to see that the answer is what the releases say: the request, sent with these headers, is answered with these bytes, as long as the releases are there. Of products without a value it says that no release of theirs is named: why they had none is not verified. */
        Verification: {
            /** @enum {string} */
            method: "POST";
            /** @example https://advice.example.org/advisory/yield/point */
            url: string;
            /**
             * @description The headers to send with it.
             * @example {
             *       "Content-Type": "application/json",
             *       "Accept": "application/json",
             *       "Prefer": "history=none"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description What to send as JSON: the request, with the releases that answered it. */
            body: {
                [key: string]: unknown;
            };
            /** @description Whether it takes a token, as polygons do. */
            token: boolean;
            /**
             * @description Of the bytes of the answer, in hexadecimal.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            sha256: string;
        };
        /** @description An advisory that somebody has shared, without who that is. */
        Citation: {
            /** @example q3sT0mY1v9xJr8bQ2dKfLw4z */
            id: string;
            /**
             * @description Where everybody finds it: a page for browsers, and JSON for programs.
             * @example https://advice.example.org/cite/q3sT0mY1v9xJr8bQ2dKfLw4z
             */
            url: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            shared_at: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            answered_at: string;
            /**
             * @description What was asked about.
             * @enum {string}
             */
            kind: "point" | "polygon";
            /**
             * @description What was asked for; `all` is every product in one call.
             * @enum {string}
             */
            product: "yield" | "fertilizer" | "isfm" | "forage" | "all";
            releases: components["schemas"]["CitedRelease"][];
            /** @description What was asked. */
            request: {
                [key: string]: unknown;
            };
            /** @description What was answered. */
            answer: {
                [key: string]: unknown;
            };
            /** @description Null where nutrients were asked for: what inputs consist of is what the operator knows today. So it is where a version before has answered what is refused now: a `budget` for several products, or bags of less than a gram. */
            verify: components["schemas"]["Verification"] | null;
        };
        /**
         * @description What the caller says of an advisory. Fields that are not listed are ignored.
         * @example {
         *       "rating": 4,
         *       "comment": "The harvest came close to it.",
         *       "observed": {
         *         "yield_kg_ha": 3100,
         *         "harvested_on": "2026-11-20"
         *       }
         *     }
         */
        FeedbackRequest: {
            /**
             * @description 1 is useless, 5 is just right.
             * @example 4
             */
            rating: number;
            comment?: string | null;
            /** @description What was seen in the field. Fields that are not listed are ignored. */
            observed?: {
                /** @description What was harvested, in kg/ha. */
                yield_kg_ha?: number | null;
                /** @description Inorganic fertilizer applied, in kg/ha. */
                rate_kg_ha?: number | null;
                /** @description Organic input applied, in metric tons per hectare. */
                rate_tons_ha?: number | null;
                /**
                 * Format: date
                 * @description The date of the harvest, which is not in the future.
                 * @example 2026-11-20
                 */
                harvested_on?: string | null;
            } | null;
        };
        /** @description Advisories that were given to callers with a token: those of the history, including items that have been deleted since. */
        AdvisoryCounts: {
            total: number;
            by_product: {
                /**
                 * @description `all` is every product in one call.
                 * @enum {string}
                 */
                product: "yield" | "fertilizer" | "isfm" | "forage" | "all";
                advisories: number;
            }[];
            by_country: {
                country_code: string;
                advisories: number;
            }[];
            by_crop: {
                /** @description Null for forage. */
                crop: string | null;
                advisories: number;
            }[];
            /** @description Every day from the first to the last, also those without any. */
            by_day: {
                /**
                 * Format: date
                 * @example 2026-07-01
                 */
                day: string;
                advisories: number;
            }[];
        };
        /** @description Feedback that was first given in these days and is still there. */
        FeedbackCounts: {
            count: number;
            /** @description The mean rating, to two decimals; null where there is none. */
            average: number | null;
        };
        /** @description Milliseconds from the arrival of a request until its answer was handed to the network; null without requests. `max` is exact, the others to within 10 %: they come from a histogram. */
        Latency: {
            p50: number | null;
            p95: number | null;
            p99: number | null;
            max: number | null;
        };
        /** @description All requests that were answered, with a token or without, by all processes of the service. */
        ServiceStats: {
            users: {
                /** @description Accounts there are now. */
                registered: number;
                /** @description Of these, who were given an advisory in these days. */
                active: number;
            };
            requests: number;
            /** @description Those answered 4xx or 5xx. */
            errors: number;
            latency: components["schemas"]["Latency"];
            by_error: {
                /** @example 404 */
                status: number;
                /** @example NO_DATA */
                code: string;
                requests: number;
            }[];
            by_operation: {
                /** @description The operationId; `documentation`, `preflight` and `unknownPath` are what is no operation. */
                operation: string;
                requests: number;
                /** @description Those answered 4xx or 5xx. */
                errors: number;
                latency: components["schemas"]["Latency"];
            }[];
            by_day: {
                /**
                 * Format: date
                 * @example 2026-07-01
                 */
                day: string;
                requests: number;
                /** @description Those answered 4xx or 5xx. */
                errors: number;
                latency: components["schemas"]["Latency"];
            }[];
        };
        /**
         * @example {
         *       "scope": "own",
         *       "from": "2026-07-01",
         *       "to": "2026-07-02",
         *       "advisories": {
         *         "total": 3,
         *         "by_product": [
         *           {
         *             "product": "fertilizer",
         *             "advisories": 2
         *           },
         *           {
         *             "product": "forage",
         *             "advisories": 1
         *           }
         *         ],
         *         "by_country": [
         *           {
         *             "country_code": "eth",
         *             "advisories": 3
         *           }
         *         ],
         *         "by_crop": [
         *           {
         *             "crop": "wheat",
         *             "advisories": 2
         *           },
         *           {
         *             "crop": null,
         *             "advisories": 1
         *           }
         *         ],
         *         "by_day": [
         *           {
         *             "day": "2026-07-01",
         *             "advisories": 0
         *           },
         *           {
         *             "day": "2026-07-02",
         *             "advisories": 3
         *           }
         *         ]
         *       },
         *       "feedback": {
         *         "count": 2,
         *         "average": 4.5
         *       }
         *     }
         */
        Stats: {
            /**
             * @description Of whom.
             * @enum {string}
             */
            scope: "own" | "all";
            /**
             * Format: date
             * @example 2026-07-01
             */
            from: string;
            /**
             * Format: date
             * @example 2026-07-01
             */
            to: string;
            advisories: components["schemas"]["AdvisoryCounts"];
            feedback: components["schemas"]["FeedbackCounts"];
            service?: components["schemas"]["ServiceStats"];
        };
        /** @description The slowest calls that a process of the service has answered lately. */
        SlowCalls: {
            /**
             * Format: date-time
             * @description Calls that were over before are not among them.
             * @example 2026-07-01T08:30:00.000Z
             */
            since: string;
            /** @description The slowest first; of each operation five at most. */
            items: {
                /**
                 * @description From the arrival of the request until its answer was handed to the network.
                 * @example 812.4
                 */
                milliseconds: number;
                /**
                 * @description As in `GET /stats`.
                 * @example yieldInPolygons
                 */
                operation: string;
                /** @example 200 */
                status: number;
                /** @description Of the error; null for a success. */
                code: string | null;
                /**
                 * Format: date-time
                 * @description In UTC, to the millisecond.
                 * @example 2026-07-01T08:30:00.000Z
                 */
                ended_at: string;
                /**
                 * @description The `X-Request-Id` of the answer; `reqId` in the log, where `ACCESS_LOG` is on.
                 * @example Xw3sQ8kdP0aB-1z
                 */
                request_id: string;
            }[];
        };
        /**
         * @description What to change. Fields that are left out stay as they are; others are ignored.
         * @example {
         *       "name": "Amina B. Bekele",
         *       "organisation": null
         *     }
         */
        ProfileChanges: {
            /**
             * @description What to call the person.
             * @example Amina Bekele
             */
            name?: string | null;
            /**
             * @description Who the person works for; null for nobody.
             * @example Oromia Extension Service
             */
            organisation?: string | null;
        };
        /**
         * @description What the deletion of an account did.
         * @example {
         *       "removed": {
         *         "accounts": 1,
         *         "sessions": 2,
         *         "keys": 1,
         *         "history": 40,
         *         "feedback": 3,
         *         "usage": 12
         *       },
         *       "anonymised": {}
         *     }
         */
        DeletionReport: {
            /** @description How many records of each kind are gone. */
            removed: {
                [key: string]: number;
            };
            /** @description How many records of each kind are kept with nothing that leads to the person. */
            anonymised: {
                [key: string]: number;
            };
        };
        /**
         * @description Who wants an account. Fields that are not listed are ignored.
         * @example {
         *       "email": "amina@example.org",
         *       "password": "teff grows at dawn",
         *       "name": "Amina Bekele",
         *       "organisation": "Oromia Extension Service"
         *     }
         */
        RegisterRequest: {
            /**
             * @description The e-mail address; upper and lower case are the same.
             * @example amina@example.org
             */
            email: string;
            /**
             * @description Any characters, of any script, in any mixture. The most common passwords are refused.
             * @example teff grows at dawn
             */
            password: string;
            /**
             * @description What to call the person.
             * @example Amina Bekele
             */
            name: string;
            /**
             * @description Who the person works for.
             * @example Oromia Extension Service
             */
            organisation?: string | null;
        };
        /**
         * @description An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.
         * @example {
         *       "email": "amina@example.org",
         *       "password": "teff grows at dawn"
         *     }
         */
        LoginRequest: {
            /** @example amina@example.org */
            email: string;
            /** @example teff grows at dawn */
            password: string;
            /**
             * @description The code that the authenticator app shows: six digits, for 30 seconds. It works once.
             * @example 492039
             */
            totp?: string | null;
            /**
             * @description A recovery code, in the place of that of the app. It works once.
             * @example k7mq-2xwd-v3ta-5zfe
             */
            recovery_code?: string | null;
        };
        /** @description What a client keeps after a login, until the next refresh. */
        Tokens: {
            /**
             * @description Send it as `Authorization: Bearer <access_token>`.
             * @example eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3ZjRjNmEwZSJ9.4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E
             */
            access_token: string;
            /** @enum {string} */
            token_type: "Bearer";
            /**
             * @description Seconds until the access token expires.
             * @example 900
             */
            expires_in: number;
            /**
             * @description Gives new tokens at `POST /auth/refresh`, once. It is valid for 30 days.
             * @example 4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E
             */
            refresh_token: string;
            user: components["schemas"]["UserProfile"];
        };
        /**
         * @example {
         *       "refresh_token": "4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E"
         *     }
         */
        RefreshRequest: {
            /** @example 4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E */
            refresh_token: string;
        };
        /**
         * @example {
         *       "current_password": "teff grows at dawn",
         *       "new_password": "and is cut before the rain"
         *     }
         */
        PasswordChange: {
            /** @example teff grows at dawn */
            current_password: string;
            /**
             * @description Any characters, of any script, in any mixture. The most common passwords are refused.
             * @example teff grows at dawn
             */
            new_password: string;
            /**
             * @description Whether the keys of the account end as well; they go on when left out.
             * @example true
             */
            end_keys?: boolean | null;
        };
        /**
         * @description An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.
         * @example {
         *       "password": "teff grows at dawn"
         *     }
         */
        Reauthentication: {
            /** @example teff grows at dawn */
            password: string;
            /**
             * @description The code that the authenticator app shows: six digits, for 30 seconds. It works once.
             * @example 492039
             */
            totp?: string | null;
            /**
             * @description A recovery code, in the place of that of the app. It works once.
             * @example k7mq-2xwd-v3ta-5zfe
             */
            recovery_code?: string | null;
        };
        /**
         * @description Whom to write to.
         * @example {
         *       "email": "amina@example.org"
         *     }
         */
        MailRequest: {
            /**
             * @description The e-mail address; upper and lower case are the same.
             * @example amina@example.org
             */
            email: string;
        };
        /**
         * @example {
         *       "token": "yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s",
         *       "password": "and is cut before the rain"
         *     }
         */
        PasswordReset: {
            /**
             * @description The token of the mail. It works once.
             * @example yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s
             */
            token: string;
            /**
             * @description Any characters, of any script, in any mixture. The most common passwords are refused.
             * @example teff grows at dawn
             */
            password: string;
            /**
             * @description Whether the keys of the account end: they do when left out, since whoever had got in may have made or copied some. False for who has only forgotten the password.
             * @example true
             */
            end_keys?: boolean | null;
        };
        /**
         * @example {
         *       "token": "yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s"
         *     }
         */
        EmailConfirmation: {
            /**
             * @description The token of the mail. It works once.
             * @example yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s
             */
            token: string;
            /**
             * @description The password of the registration. Only needed where the e-mail was registered more than once: it says which one counts.
             * @example teff grows at dawn
             */
            password?: string | null;
        };
        /** @description A login that has not ended. */
        Session: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was begun or continued last (`POST /auth/refresh`).
             * @example 2026-07-01T08:30:00.000Z
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            expires_at: string;
            /**
             * @description Where that came from: an IPv4 address, or the /64 of an IPv6 one. Null where it is not known.
             * @example 192.0.2.17
             */
            network: string | null;
            /**
             * @description How the client names itself, in 200 characters at most.
             * @example Mozilla/5.0 (Android 15)
             */
            user_agent: string | null;
            /** @description Whether it is the one that asks. */
            current: boolean;
        };
        /** @description The sessions, the one that was used last first. */
        SessionList: {
            items: components["schemas"]["Session"][];
            /** @description Always null: there are never more. */
            next_cursor: null;
        };
        /**
         * @example {
         *       "enabled": true,
         *       "required": false,
         *       "recovery_codes": 10
         *     }
         */
        TwoFactorStatus: {
            /** @description Whether a login needs a code. */
            enabled: boolean;
            /** @description Whether the account needs a second factor to do what its role allows. */
            required: boolean;
            /**
             * @description How many recovery codes are left.
             * @example 10
             */
            recovery_codes: number;
        };
        /**
         * @example {
         *       "password": "teff grows at dawn"
         *     }
         */
        TwoFactorRequest: {
            /** @example teff grows at dawn */
            password: string;
        };
        /** @description What the authenticator app needs. It is shown once. */
        TwoFactorSecret: {
            /**
             * @description For apps into which it has to be typed: base32.
             * @example JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
             */
            secret: string;
            /**
             * @description For apps that read QR codes: show it as one.
             * @example otpauth://totp/Agricultural%20advisory%20service:amina%40example.org?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Agricultural%20advisory%20service&algorithm=SHA1&digits=6&period=30
             */
            uri: string;
        };
        /**
         * @example {
         *       "totp": "492039"
         *     }
         */
        TwoFactorConfirmation: {
            /**
             * @description The code that the authenticator app shows: six digits, for 30 seconds. It works once.
             * @example 492039
             */
            totp: string;
        };
        RecoveryCodes: {
            /** @description Ten codes for whoever has lost the app. They are shown once: print them, or write them down. */
            recovery_codes: string[];
        };
        /**
         * @description The password, and `totp` or `recovery_code`.
         * @example {
         *       "password": "teff grows at dawn",
         *       "totp": "492039"
         *     }
         */
        TwoFactorRemoval: {
            /** @example teff grows at dawn */
            password: string;
            /**
             * @description The code that the authenticator app shows: six digits, for 30 seconds. It works once.
             * @example 492039
             */
            totp?: string | null;
            /**
             * @description A recovery code, in the place of that of the app. It works once.
             * @example k7mq-2xwd-v3ta-5zfe
             */
            recovery_code?: string | null;
        };
        /**
         * @example {
         *       "name": "Dashboard of the ministry",
         *       "expires_in_days": 365,
         *       "scopes": [
         *         "advisory"
         *       ]
         *     }
         */
        ApiKeyRequest: {
            /**
             * @description What the key is for.
             * @example Dashboard of the ministry
             */
            name: string;
            /**
             * @description How long the key is valid. Until it is deleted when left out.
             * @example 365
             */
            expires_in_days?: number | null;
            /**
             * @description What the key may do: advisory and history when left out.
             * @example [
             *       "advisory",
             *       "history"
             *     ]
             */
            scopes?: ("advisory" | "history" | "account" | "admin")[] | null;
        };
        /** @description A key, without the key itself. */
        ApiKey: {
            /** Format: uuid */
            id: string;
            /** @example Dashboard of the ministry */
            name: string;
            /**
             * @description The beginning of the key.
             * @example agro_Zk3v
             */
            hint: string;
            /** @description What the key may do. */
            scopes: ("advisory" | "history" | "account" | "admin")[];
            /**
             * Format: uuid
             * @description The id of the key that made it, with which it ends; null where its owner was logged in, as it takes now.
             */
            made_by: string | null;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Null where it does not expire.
             * @example 2026-07-01T08:30:00.000Z
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Accurate to a minute.
             * @example 2026-07-01T08:30:00.000Z
             */
            last_used_at: string | null;
            /** @description How many requests came with the key on each of the last 30 days (UTC) on which there were any, in order. Those that were refused count, too. */
            usage: {
                /**
                 * Format: date
                 * @example 2026-07-01
                 */
                day: string;
                requests: number;
            }[];
        };
        /** @description A key that was just made. */
        NewApiKey: {
            /** Format: uuid */
            id: string;
            /** @example Dashboard of the ministry */
            name: string;
            /**
             * @description The beginning of the key.
             * @example agro_Zk3v
             */
            hint: string;
            /** @description What the key may do. */
            scopes: ("advisory" | "history" | "account" | "admin")[];
            /**
             * Format: uuid
             * @description The id of the key that made it, with which it ends; null where its owner was logged in, as it takes now.
             */
            made_by: string | null;
            /**
             * Format: date-time
             * @description In UTC, to the millisecond.
             * @example 2026-07-01T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Null where it does not expire.
             * @example 2026-07-01T08:30:00.000Z
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Accurate to a minute.
             * @example 2026-07-01T08:30:00.000Z
             */
            last_used_at: string | null;
            /**
             * @description The key. Keep it now: it is never shown again.
             * @example agro_Zk3vQ1sPq7mYp9oU5p3cT2E4BOEZ8wyhU8X1mPJ4vh
             */
            key: string;
        };
        /** @description The keys, the newest first. */
        ApiKeyList: {
            items: components["schemas"]["ApiKey"][];
            /** @description Always null: there are never more. */
            next_cursor: null;
        };
        ServiceLinks: {
            /** @example Agricultural advisory service */
            name: string;
            /**
             * @description The page on which every operation can be tried.
             * @example /docs
             */
            docs: string;
            /**
             * @description The OpenAPI document.
             * @example /openapi.json
             */
            openapi: string;
            /**
             * @description What is published.
             * @example /catalog
             */
            catalog: string;
            /**
             * @description The same as a STAC catalog.
             * @example /stac
             */
            stac: string;
            /**
             * @description The OGC API, for GIS.
             * @example /ogc
             */
            ogc: string;
        };
        Health: {
            /**
             * @description Always `ok`; anything else is an error.
             * @enum {string}
             */
            status: "ok";
        };
        Readiness: {
            /**
             * @description Always `ok`; anything else is an error.
             * @enum {string}
             */
            status: "ok";
            /** @description The replica of the database, where the service has one. */
            replica?: {
                /**
                 * @description `used`: requests that only read are answered from it. `behind`: its data are too old. `unavailable`: it does not answer. Unless it is used, the database answers in its place.
                 * @enum {unknown}
                 */
                state: "used" | "behind" | "unavailable";
                /**
                 * @description How many milliseconds old at most what it answers is; null where that is not known.
                 * @example 412
                 */
                lag_ms: number | null;
            };
            /** @description The files that rasters are in, where they are not in the database. */
            files?: {
                /**
                 * @description `unavailable`: they do not answer; what is in memory or on a disk nearby is answered, all else 503.
                 * @enum {unknown}
                 */
                state: "used" | "unavailable";
            };
        };
    };
    responses: never;
    parameters: {
        /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
        IfNoneMatch: string;
        /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
        Prefer: string;
        /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
        IdempotencyKey: string;
        /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
        XRequestId: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Names the call in the log of the service. Every answer has it.
         * @example u3Vb0fJX2kQe-5k
         */
        "X-Request-Id": string;
        /**
         * @description The seconds to wait before the next attempt.
         * @example 1
         */
        "Retry-After": number;
        /**
         * @description How many requests are left to the caller, and for how many seconds, where the operator limits them: then all answers have it.
         * @example "caller";r=0;t=8
         */
        RateLimit: string;
        /**
         * @description How many requests a caller may send in how many seconds, where the operator limits them.
         * @example "caller";q=600;w=60
         */
        "RateLimit-Policy": string;
        /**
         * @description How to authenticate (RFC 6750). Where no token is needed: that the one that was sent is of no use.
         * @example Bearer realm="agro-advisory", error="invalid_token"
         */
        "WWW-Authenticate": string;
        /**
         * @description The encodings in which bodies are read (RFC 9110).
         * @example gzip, deflate, br
         */
        "Accept-Encoding": string;
        /**
         * @description What caches may do with the answer (RFC 9111).
         * @example no-store
         */
        "Cache-Control": string;
        /**
         * @description Names the answer: it is the same as long as the answer is.
         * @example "3q2-7wEXAMPLE"
         */
        ETag: string;
        /**
         * @description The headers of the request that the answer depends on.
         * @example Accept
         */
        Vary: string;
        /**
         * @description The path of what was made.
         * @example /user/profile
         */
        Location: string;
        /**
         * @description `true` where the answer is that of an earlier attempt.
         * @example true
         */
        "Idempotency-Replayed": string;
        /**
         * @description What of `Prefer` was heeded (RFC 7240).
         * @example history=none
         */
        "Preference-Applied": string;
        /**
         * @description Milliseconds, where `Prefer: server-timing` asked for them.
         * @example release;dur=0.020, values;dur=0.150, total;dur=0.410
         */
        "Server-Timing": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getYieldAtPoint: {
        parameters: {
            query: {
                /**
                 * @description Latitude in decimal degrees (WGS 84).
                 * @example 9.5
                 */
                lat: number;
                /**
                 * @description Longitude in decimal degrees (WGS 84).
                 * @example 38.5
                 */
                lng: number;
                /**
                 * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
                 * @example wheat
                 */
                crop?: string;
                /**
                 * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
                 * @example eth
                 */
                country_code?: string;
                /**
                 * @description A label for the place, given back in `location.name`. `Point` when left out.
                 * @example Point
                 */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
                max_segments?: number;
                /** @description The form of the answer: JSON where it is left out. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["YieldResponse"];
                };
            };
            /** @description The answer is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    yieldAtPoint: {
        parameters: {
            query?: {
                /** @description Latitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lat?: number;
                /** @description Longitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lng?: number;
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. `Point` when left out. Used where the body does not have it. */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. Used where the body does not have it. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. Used where the body does not have it. */
                max_segments?: number;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PointRequest"] | components["schemas"]["PointRemainder"];
            };
        };
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["YieldResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getFertilizerAtPoint: {
        parameters: {
            query: {
                /**
                 * @description Latitude in decimal degrees (WGS 84).
                 * @example 9.5
                 */
                lat: number;
                /**
                 * @description Longitude in decimal degrees (WGS 84).
                 * @example 38.5
                 */
                lng: number;
                /**
                 * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
                 * @example wheat
                 */
                crop?: string;
                /**
                 * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
                 * @example eth
                 */
                country_code?: string;
                /**
                 * @description A label for the place, given back in `location.name`. `Point` when left out.
                 * @example Point
                 */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
                max_segments?: number;
                /** @description The form of the answer: JSON where it is left out. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FertilizerResponse"];
                };
            };
            /** @description The answer is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    fertilizerAtPoint: {
        parameters: {
            query?: {
                /** @description Latitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lat?: number;
                /** @description Longitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lng?: number;
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. `Point` when left out. Used where the body does not have it. */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. Used where the body does not have it. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. Used where the body does not have it. */
                max_segments?: number;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PointRequest"] | components["schemas"]["PointRemainder"];
            };
        };
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FertilizerResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getIsfmAtPoint: {
        parameters: {
            query: {
                /**
                 * @description Latitude in decimal degrees (WGS 84).
                 * @example 9.5
                 */
                lat: number;
                /**
                 * @description Longitude in decimal degrees (WGS 84).
                 * @example 38.5
                 */
                lng: number;
                /**
                 * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
                 * @example wheat
                 */
                crop?: string;
                /**
                 * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
                 * @example eth
                 */
                country_code?: string;
                /**
                 * @description A label for the place, given back in `location.name`. `Point` when left out.
                 * @example Point
                 */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
                max_segments?: number;
                /** @description The form of the answer: JSON where it is left out. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsfmResponse"];
                };
            };
            /** @description The answer is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    isfmAtPoint: {
        parameters: {
            query?: {
                /** @description Latitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lat?: number;
                /** @description Longitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lng?: number;
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. `Point` when left out. Used where the body does not have it. */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. Used where the body does not have it. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. Used where the body does not have it. */
                max_segments?: number;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PointRequest"] | components["schemas"]["PointRemainder"];
            };
        };
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsfmResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getForageAtPoint: {
        parameters: {
            query: {
                /**
                 * @description Latitude in decimal degrees (WGS 84).
                 * @example 9.5
                 */
                lat: number;
                /**
                 * @description Longitude in decimal degrees (WGS 84).
                 * @example 38.5
                 */
                lng: number;
                /**
                 * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
                 * @example eth
                 */
                country_code?: string;
                /**
                 * @description A label for the place, given back in `location.name`. `Point` when left out.
                 * @example Point
                 */
                name?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
                provenance?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
                max_segments?: number;
                /** @description The form of the answer: JSON where it is left out. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForageResponse"];
                };
            };
            /** @description The answer is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    forageAtPoint: {
        parameters: {
            query?: {
                /** @description Latitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lat?: number;
                /** @description Longitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lng?: number;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. `Point` when left out. Used where the body does not have it. */
                name?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. Used where the body does not have it. */
                provenance?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. Used where the body does not have it. */
                max_segments?: number;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ForagePointRequest"] | components["schemas"]["ForagePointRemainder"];
            };
        };
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForageResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getEverythingAtPoint: {
        parameters: {
            query: {
                /**
                 * @description Latitude in decimal degrees (WGS 84).
                 * @example 9.5
                 */
                lat: number;
                /**
                 * @description Longitude in decimal degrees (WGS 84).
                 * @example 38.5
                 */
                lng: number;
                /**
                 * @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out.
                 * @example wheat
                 */
                crop?: string;
                /**
                 * @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out.
                 * @example eth
                 */
                country_code?: string;
                /**
                 * @description A label for the place, given back in `location.name`. `Point` when left out.
                 * @example Point
                 */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. */
                max_segments?: number;
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EverythingResponse"];
                };
            };
            /** @description The answer is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    everythingAtPoint: {
        parameters: {
            query?: {
                /** @description Latitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lat?: number;
                /** @description Longitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lng?: number;
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. `Point` when left out. Used where the body does not have it. */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`. Used where the body does not have it. */
                provenance?: boolean;
                /** @description How large the field is, such as `2.5 ha`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
                /** @description Of an answer as `text/plain`: how many segments of a text message it may take, 1 when left out. Used where the body does not have it. */
                max_segments?: number;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PointRequest"] | components["schemas"]["PointRemainder"];
            };
        };
        responses: {
            /** @description The values at the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EverythingResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    yieldAtPoints: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description What else of the points is given back with their answers: at most 20 columns or properties by their names; in the query several times, or separated by commas. Texts of at most 1000 characters, numbers, true, false and null are passed; a point with anything else there is refused. A name that the answer has anyway is refused, and so is one that a table has no column of. Used where the body does not have it. */
                pass?: string[];
                /** @description How large all fields are, such as `2.5 ha`, or where each point says how large its own is: `from:area_ha ha`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PointsRequest"];
            };
        };
        responses: {
            /** @description An answer for each point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["YieldPointsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    fertilizerAtPoints: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description What else of the points is given back with their answers: at most 20 columns or properties by their names; in the query several times, or separated by commas. Texts of at most 1000 characters, numbers, true, false and null are passed; a point with anything else there is refused. A name that the answer has anyway is refused, and so is one that a table has no column of. Used where the body does not have it. */
                pass?: string[];
                /** @description How large all fields are, such as `2.5 ha`, or where each point says how large its own is: `from:area_ha ha`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PointsRequest"];
            };
        };
        responses: {
            /** @description An answer for each point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FertilizerPointsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    isfmAtPoints: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description What else of the points is given back with their answers: at most 20 columns or properties by their names; in the query several times, or separated by commas. Texts of at most 1000 characters, numbers, true, false and null are passed; a point with anything else there is refused. A name that the answer has anyway is refused, and so is one that a table has no column of. Used where the body does not have it. */
                pass?: string[];
                /** @description How large all fields are, such as `2.5 ha`, or where each point says how large its own is: `from:area_ha ha`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PointsRequest"];
            };
        };
        responses: {
            /** @description An answer for each point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsfmPointsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    forageAtPoints: {
        parameters: {
            query?: {
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description What else of the points is given back with their answers: at most 20 columns or properties by their names; in the query several times, or separated by commas. Texts of at most 1000 characters, numbers, true, false and null are passed; a point with anything else there is refused. A name that the answer has anyway is refused, and so is one that a table has no column of. Used where the body does not have it. */
                pass?: string[];
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForagePointsRequest"];
            };
        };
        responses: {
            /** @description An answer for each point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForagePointsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    yieldInPolygon: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`. Used where the body does not have it. */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
                /** @description In which unit the area is told as well, such as `timad`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolygonRequest"];
            };
        };
        responses: {
            /** @description The statistics of the layers in the polygon. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolygonYieldResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    fertilizerInPolygon: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`. Used where the body does not have it. */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
                /** @description In which unit the area is told as well, such as `timad`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolygonRequest"];
            };
        };
        responses: {
            /** @description The statistics of the layers in the polygon. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolygonFertilizerResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    isfmInPolygon: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`. Used where the body does not have it. */
                name?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
                /** @description In which unit the area is told as well, such as `timad`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolygonRequest"];
            };
        };
        responses: {
            /** @description The statistics of the layers in the polygon. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolygonIsfmResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    forageInPolygon: {
        parameters: {
            query?: {
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. With `admin` it is that of the area. Used where the body does not have it. */
                country_code?: string;
                /** @description A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`. Used where the body does not have it. */
                name?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
            };
            header?: {
                /** @description What the client would like (RFC 7240), separated by commas: `history=none` to keep nothing of the call in the history; at a point also `server-timing` for the time that the call took. `Preference-Applied` says what was heeded. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForagePolygonRequest"];
            };
        };
        responses: {
            /** @description The statistics of the layers in the polygon. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolygonForageResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    yieldInPolygons: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas. Used where the body does not have it. */
                country_code?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
                /** @description In which unit the area is told as well, such as `timad`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
                /** @description The form of the answer, for whoever cannot send `Accept`; it wins over that. Used where the body does not have it. */
                format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2";
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolygonsRequest"];
            };
        };
        responses: {
            /** @description An answer for each polygon or area. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["YieldPolygonsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    fertilizerInPolygons: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas. Used where the body does not have it. */
                country_code?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
                /** @description In which unit the area is told as well, such as `timad`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
                /** @description The form of the answer, for whoever cannot send `Accept`; it wins over that. Used where the body does not have it. */
                format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2";
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolygonsRequest"];
            };
        };
        responses: {
            /** @description An answer for each polygon or area. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FertilizerPolygonsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    isfmInPolygons: {
        parameters: {
            query?: {
                /** @description The crop, in any case. Which ones a country offers is in `GET /catalog`. `wheat` when left out. Used where the body does not have it. */
                crop?: string;
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas. Used where the body does not have it. */
                country_code?: string;
                /** @description The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out. Used where the body does not have it. */
                forecast_period?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
                /** @description In which unit the area is told as well, such as `timad`. Used where the body does not have it. */
                area?: string;
                /** @description The kilograms of a bag, such as `Urea:50,DAP:50`. Used where the body does not have it. */
                bags?: string;
                /** @description What inputs cost, with the currency: by the kilogram, or by the bag where `/bag` follows, such as `ETB Urea:2250/bag,Compost:4.5`. Used where the body does not have it. */
                prices?: string;
                /** @description How much may be spent, in the currency of `prices`: of one product, so it is refused where two products answer whose inputs have prices. Used where the body does not have it. */
                budget?: number;
                /** @description What a kilogram of the harvest is sold for, with the currency, such as `ETB 38.5`. Used where the body does not have it. */
                produce_price?: string;
                /** @description The weights of scenarios, such as `Normal:2,Below Normal:1`. Used where the body does not have it. */
                scenario_weights?: string;
                /** @description Whether to tell the nutrients of products whose composition the service knows. Used where the body does not have it. */
                nutrients?: boolean;
                /** @description The form of the answer, for whoever cannot send `Accept`; it wins over that. Used where the body does not have it. */
                format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2";
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolygonsRequest"];
            };
        };
        responses: {
            /** @description An answer for each polygon or area. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsfmPolygonsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    forageInPolygons: {
        parameters: {
            query?: {
                /** @description The country, in any case: one of `eth`, `rwa`, `ken`, `gha`. `eth` when left out. With `admin` it is that of the areas. Used where the body does not have it. */
                country_code?: string;
                /** @description A release, by the code that answers have as `release`: it alone answers, as long as it is there, also where another has taken its place. Country, crop and month are then its own, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; the others have no answer then. Used where the body does not have it. */
                release?: string;
                /** @description Quantiles of the values to answer with, from 0 to 1, 20 at most; in the query several times, or separated by commas. Used where the body does not have it. */
                quantiles?: number[];
                /** @description Answer with a histogram of so many bins, or classes. Used where the body does not have it. */
                histogram?: number;
                /** @description The form of the answer, for whoever cannot send `Accept`; it wins over that. Used where the body does not have it. */
                format?: "json" | "ndjson" | "csv" | "geojson" | "dhis2";
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForagePolygonsRequest"];
            };
        };
        responses: {
            /** @description An answer for each polygon or area. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForagePolygonsResponse"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCoverage: {
        parameters: {
            query?: {
                /**
                 * @description The level of the areas, 0 for countries; 1 when left out.
                 * @example 1
                 */
                level?: number;
                /**
                 * @description Only this country, in any case: one of `eth`, `rwa`, `ken`, `gha`.
                 * @example eth
                 */
                country_code?: string;
                /** @description Only this area of the level, by its code in `GET /admin`. */
                area?: string;
                /** @description Only this product. */
                product?: "yield" | "fertilizer" | "isfm" | "forage";
                /** @description Only this crop, in any case. */
                crop?: string;
                /** @description Only this release, by its code, in its country. It may be one that is not published any more. */
                release?: string;
                /** @description The most areas to answer with. A page for which much has to be computed ends earlier. */
                limit?: number;
                /** @description Where to go on: the `next_cursor` of the page before, with the same other parameters. */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of areas. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CoverageList"];
                };
            };
            /** @description The page is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSubscriptions: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscriptions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionList"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionRequest"];
            };
        };
        responses: {
            /** @description The subscription, with its secret. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewSubscription"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the subscription. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the subscription. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    enableSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the subscription. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    renewSubscriptionSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the subscription. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSecret"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    validateLocation: {
        parameters: {
            query?: {
                /** @description Latitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lat?: number;
                /** @description Longitude in decimal degrees (WGS 84). Used where the body does not have it. */
                lng?: number;
                /** @description The country that the point should lie in, in any case: one of `eth`, `rwa`, `ken`, `gha`. The one it lies in when left out. Used where the body does not have it. */
                country_code?: string;
                /** @description The crop that the products are wanted for. The first one of the country when left out. Used where the body does not have it. */
                crop?: string;
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["LocationRequest"] | components["schemas"]["LocationRemainder"];
            };
        };
        responses: {
            /** @description What is known about the point. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LocationValidation"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAdminAreas: {
        parameters: {
            query: {
                /**
                 * @description The country: a code or a name, in any case, with or without accents.
                 * @example Rwanda
                 */
                admin0: string;
                /**
                 * @description How far down: 1 for regions, provinces or counties, then 2 and 3.
                 * @example 1
                 */
                level: number;
                /** @description Only areas within this one: the code of an area of any level above. */
                parent?: string;
                /** @description Whether to give the shapes of the areas: not at all, with fewer vertices for a map (each area for itself, so neighbours may not touch exactly), or as they were loaded. A page of full shapes ends early where they become many megabytes. */
                geometry?: "none" | "simplified" | "full";
                /** @description What to answer with: a list, or a GeoJSON FeatureCollection. `Accept: application/geo+json` asks for the latter, too. */
                format?: "json" | "geojson";
                /** @description The most areas to answer with. */
                limit?: number;
                /** @description Where to go on: the `next_cursor` of the page before, with the same other parameters. */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of areas. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminAreaList"];
                };
            };
            /** @description The boundaries are those that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCatalog: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The catalog. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Catalog"];
                };
            };
            /** @description The catalog is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listReleases: {
        parameters: {
            query?: {
                /** @description Only this product. */
                product?: "yield" | "fertilizer" | "isfm" | "forage";
                /**
                 * @description Only this country, in any case.
                 * @example eth
                 */
                country_code?: string;
                /** @description Only this crop, in any case. */
                crop?: string;
                /** @description Only such: `published`: it answers now. `replaced`: it was published, and answers where it is named. `unpublished`: it never was; admins alone see it. `deleted`: its values are gone, and what is said of it is all that is left. `incomplete`: it is being loaded, or its load was cut off; admins alone see it, where they ask for it. Without it, all but those that are deleted or incomplete. */
                state?: "published" | "replaced" | "unpublished" | "deleted" | "incomplete";
                /** @description The most items to answer with. */
                limit?: number;
                /** @description Where to go on: the `next_cursor` of the page before, with the same other parameters. */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of releases. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseList"];
                };
            };
            /** @description The page is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRelease: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The code of a release.
                 * @example synthetic-yield-eth-wheat-2026-07-v1
                 */
                release: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The release. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseDescription"];
                };
            };
            /** @description It is as `If-None-Match` names it. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    compareReleases: {
        parameters: {
            query?: {
                /** @description Of the areas; the finest that is loaded, down to 2, when left out. */
                level?: number;
                /** @description By how many percent of what it was a value has to differ to count as changed. */
                threshold?: number;
                /** @description Whether to look at every pixel, and not only at summaries. */
                exact?: "true" | "false";
                /** @description What to answer with. `Accept` asks for it, too. */
                format?: "json" | "csv" | "png";
                /** @description Which of `layers` a map shows, from 1; when left out, the one of which a mean changes most, rather one that both releases have. JSON and CSV have all. */
                layer?: number;
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The code of a release that is complete, published or not.
                 * @example yield-eth-wheat-2026-07-v2
                 */
                a: string;
                /**
                 * @description The code of the release to compare it with.
                 * @example yield-eth-wheat-2026-07-v1
                 */
                b: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseChanges"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /**
                 * @description What came after the entry with this id: `next_since` of the last answer. From the beginning when left out.
                 * @example 0
                 */
                since?: number;
                /** @description How many entries at most. */
                limit?: number;
                /** @description What to answer with. `Accept` asks for it, too. */
                format?: "json" | "atom";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeFeed"];
                };
            };
            /** @description The answer is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getScorecard: {
        parameters: {
            query?: {
                /** @description Of the areas. */
                level?: number;
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The code of a release that is complete, published or not.
                 * @example synthetic-yield-eth-wheat-2026-07-v1
                 */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The scores. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Scorecard"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listLayers: {
        parameters: {
            query?: {
                /** @description How values are cut into classes: such that each has about as much of the area, or such that all are equally wide. */
                cut?: "quantiles" | "equal";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The code of a published release, as `GET /catalog` has it.
                 * @example synthetic-yield-eth-wheat-2026-07-v1
                 */
                release: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The layers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LayerList"];
                };
            };
            /** @description The layers are those that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTileset: {
        parameters: {
            query?: {
                /** @description How values are cut into classes: such that each has about as much of the area, or such that all are equally wide. */
                cut?: "quantiles" | "equal";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The code of a published release, as `GET /catalog` has it.
                 * @example synthetic-yield-eth-wheat-2026-07-v1
                 */
                release: string;
                /**
                 * @description Which of its layers, from 1.
                 * @example 1
                 */
                layer: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where its tiles are, and the legend. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tileset"];
                };
            };
            /** @description It is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTile: {
        parameters: {
            query?: {
                /** @description How values are cut into classes: such that each has about as much of the area, or such that all are equally wide. */
                cut?: "quantiles" | "equal";
            };
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The code of a published release, as `GET /catalog` has it.
                 * @example synthetic-yield-eth-wheat-2026-07-v1
                 */
                release: string;
                /**
                 * @description Which of its layers, from 1.
                 * @example 1
                 */
                layer: number;
                /**
                 * @description Zoom.
                 * @example 6
                 */
                z: number;
                /**
                 * @description Column, from the west.
                 * @example 38
                 */
                x: number;
                /**
                 * @description Row, from the north.
                 * @example 30
                 */
                y: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tile. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": components["schemas"]["Picture"];
                };
            };
            /** @description The tile is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getGeotiff: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The code of a published release, as `GET /catalog` has it.
                 * @example synthetic-yield-eth-wheat-2026-07-v1
                 */
                release: string;
                /**
                 * @description Which of its layers, from 1.
                 * @example 1
                 */
                layer: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/tiff": components["schemas"]["GeoTiff"];
                };
            };
            /** @description The bytes of it that `Range` names. Of several ranges, the file is the answer. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/tiff": components["schemas"]["GeoTiff"];
                };
            };
            /** @description The file is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStacCatalog: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The catalog. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StacCatalog"];
                };
            };
            /** @description The catalog is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStacCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The id of a collection: a product and a country, as `GET /stac` links them.
                 * @example yield-eth
                 */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The collection. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StacCollection"];
                };
            };
            /** @description The collection is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStacItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /**
                 * @description The id of a collection: a product and a country, as `GET /stac` links them.
                 * @example yield-eth
                 */
                collection: string;
                /**
                 * @description The code of a published release.
                 * @example synthetic-yield-eth-wheat-2026-07-v1
                 */
                item: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The item. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/geo+json": components["schemas"]["StacItem"];
                };
            };
            /** @description The item is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listHistory: {
        parameters: {
            query?: {
                /** @description The most items to answer with. A page of large items ends earlier. */
                limit?: number;
                /** @description Where to go on: the `next_cursor` of the page before, with the same other parameters. */
                cursor?: string;
                /** @description Only this product; `all` is what was asked for every product in one call. */
                product?: "yield" | "fertilizer" | "isfm" | "forage" | "all";
                /** @description Only advice for points, or only for polygons and administrative areas. */
                kind?: "point" | "polygon";
                /** @description Whether to answer with all pages in one file, for CSV and GeoJSON; without `cursor`. Then `limit` does not matter. */
                all?: "true" | "false";
                /** @description Only this country, in any case. */
                country_code?: string;
                /** @description Only what was answered then or later: a date (from its beginning in UTC), or a date and time. */
                from?: string;
                /** @description Only what was answered earlier: a date (to its end in UTC, so the whole day is in), or a date and time (which itself is out). */
                to?: string;
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the history. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryList"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHistoryItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the item. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The item. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryItem"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteHistoryItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the item. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The item is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getShare: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the item. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where it is shown. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Share"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    shareHistoryItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the item. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where it is shown. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Share"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    unshareHistoryItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the item. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is not shared any more. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer that the client has: where it is still the same, the answer is 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description What `POST /history/{id}/share` has given. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was shared. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Citation"];
                };
            };
            /** @description It is as `If-None-Match` names it. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    giveFeedback: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the item. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackRequest"];
            };
        };
        responses: {
            /** @description What is kept. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: {
                /** @description The first day (UTC). Without it, 30 days end with the last one. */
                from?: string;
                /** @description The last day (UTC), today without it. */
                to?: string;
                /** @description Of whom: the caller, or everybody together with how the service does, for admins. */
                scope?: "own" | "all";
            };
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSlowCalls: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The calls. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlowCalls"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserProfile"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteProfile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionReport"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changeProfile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProfileChanges"];
            };
        };
        responses: {
            /** @description The account after the change. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserProfile"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    register: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterRequest"];
            };
        };
        responses: {
            /** @description The account, or what it will be. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserProfile"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginRequest"];
            };
        };
        responses: {
            /** @description The tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tokens"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    refresh: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshRequest"];
            };
        };
        responses: {
            /** @description The new tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tokens"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description The password is changed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reauthenticate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reauthentication"];
            };
        };
        responses: {
            /** @description The password is right. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endOtherSessions: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions have ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTwoFactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a login needs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TwoFactorStatus"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    beginTwoFactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TwoFactorRequest"];
            };
        };
        responses: {
            /** @description What the app needs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TwoFactorSecret"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    confirmTwoFactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TwoFactorConfirmation"];
            };
        };
        responses: {
            /** @description It is on. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    disableTwoFactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TwoFactorRemoval"];
            };
        };
        responses: {
            /** @description A login needs the password alone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    forgotPassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MailRequest"];
            };
        };
        responses: {
            /** @description If there is such an account, a mail is on its way. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resendConfirmation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MailRequest"];
            };
        };
        responses: {
            /** @description If there is such an account, a mail is on its way. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordReset"];
            };
        };
        responses: {
            /** @description The password is changed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    confirmEmail: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailConfirmation"];
            };
        };
        responses: {
            /** @description The e-mail is confirmed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text that names this request among those of the account, or of the key that it is sent with, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. Sent again with it within a day, the request is answered the same, with `Idempotency-Replayed: true`, and nothing is done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyRequest"];
            };
        };
        responses: {
            /** @description The key. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path: {
                /** @description The id of the key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getServiceLinks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceLinks"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. What is something else, or left out, gives way to the service's own. */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Requests can be answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description An error. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}

/** The paths whose POST takes an `Idempotency-Key`. */
export const IDEMPOTENT_POSTS: readonly string[] = [
  "/advisory/yield/point",
  "/advisory/fertilizer/point",
  "/advisory/isfm/point",
  "/advisory/forage/point",
  "/advisory/point",
  "/advisory/yield",
  "/advisory/fertilizer",
  "/advisory/isfm",
  "/advisory/forage",
  "/subscriptions",
  "/subscriptions/{id}/secret",
  "/history/{id}/feedback",
  "/auth/register",
  "/auth/keys"
];
