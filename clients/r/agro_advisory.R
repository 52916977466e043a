# Client of the agricultural advisory service: one file, with the packages jsonlite and curl.
#
#   source("agro_advisory.R")
#   client <- advisory_client("https://advisory.example.org", key = "agro_...")
#   advice <- advise_point(client, "fertilizer", lat = 9.5, lng = 38.5)
#   farms <- advise_points(client, "fertilizer", read.csv("farms.csv"), crop = "wheat", country_code = "eth")
#
# Many places are a data frame: one row a place, one column a value, such as `rate_kg_ha Urea Normal`, and `error` and
# `code` where there is none. Calls are tried again where the service is too busy, cannot be reached or breaks off.
# A call without an answer stops with a condition of the class `advisory_error`, which has `code`, `status` and `request_id`.

#' A service, and how it is asked.
#'
#' @param key an API key or an access token, or a function that gives one. Points are answered without it, polygons are not.
#' @param retries attempts after the first one
#' @param max_wait seconds; a call that would have to wait longer before an attempt is given up
advisory_client <- function(base_url, key = NULL, retries = 4, max_wait = 30) {
  list(base = sub("/+$", "", base_url), key = key, retries = retries, max_wait = max_wait)
}

#' Advice for one point, as a list; `...` may have crop, country_code, name and forecast_period.
advise_point <- function(client, product, lat, lng, ...) {
  advisory_call(client, "POST", paste0("/advisory/", product, "/point"), list(lat = lat, lng = lng, ...), once = TRUE)
}

#' Advice for a GeoJSON polygon, as a list or a text, or for an administrative area (a list); needs a key.
advise_polygon <- function(client, product, geometry = NULL, admin = NULL, ...) {
  if (is.character(geometry)) geometry <- jsonlite::fromJSON(geometry, simplifyVector = FALSE)
  body <- c(list(geometry = geometry, admin = admin), list(...))
  advisory_call(client, "POST", paste0("/advisory/", product), body, once = TRUE)
}

#' Advice for any number of points, in their order.
#'
#' Where all places of the first call are refused, the condition says why.
#'
#' @param points a data frame with lat and lng, also as text, and perhaps id and name
#' @param ... crop, country_code and forecast_period
#' @param batch_size how many go into one call; the service takes 1,000, or 20,000 with a token
advise_points <- function(client, product, points, ..., batch_size = 1000) {
  sent <- points[intersect(c("id", "name", "lat", "lng"), names(points))]
  path <- paste0("/advisory/", product, "/points", .query(list(...)))
  .in_groups(nrow(sent), batch_size, function(rows) {
    lines <- .lines(sent[rows, , drop = FALSE])
    table <- .table(client, path, paste(lines, collapse = "\n"), "application/x-ndjson", length(rows))
    .as_sent(.as_sent(table, "id", sent$id[rows]), "name", sent$name[rows])
  })
}

#' Advice for any number of polygons; needs a key.
#'
#' @param features a list of GeoJSON Features, or the path of a file with a FeatureCollection
#' @param ... crop, country_code and forecast_period
#' @param batch_size how many go into one call; the service takes 1,000
advise_polygons <- function(client, product, features, ..., batch_size = 100) {
  if (is.character(features)) features <- jsonlite::fromJSON(features, simplifyVector = FALSE)$features
  path <- paste0("/advisory/", product, "/polygons", .query(list(...)))
  .in_groups(length(features), batch_size, function(rows) {
    body <- .json(list(type = "FeatureCollection", features = unname(features[rows])))
    table <- .table(client, path, body, "application/geo+json", length(rows))
    # Not `$`, which takes `id_district` for `id`.
    ids <- .texts(features[rows], function(feature) {
      if (is.null(feature[["id"]])) feature[["properties"]][["id"]] else feature[["id"]]
    })
    labels <- .texts(features[rows], function(feature) feature[["properties"]][["name"]])
    .as_sent(.as_sent(table, "id", ids), "name", labels)
  })
}

#' Advice for all administrative areas of a level, or for those within `parent`, by their codes; needs a key.
advise_areas <- function(client, product, country_code, level, parent = NULL, crop = NULL, forecast_period = NULL) {
  admin <- Filter(Negate(is.null), list(country_code = country_code, level = level, parent = parent))
  body <- Filter(Negate(is.null), list(admin = admin, crop = crop, forecast_period = forecast_period))
  .table(client, paste0("/advisory/", product, "/polygons"), .json(body), "application/json")
}

#' Any operation of the service with JSON: advisory_call(client, "GET", "/admin?admin0=rwa&level=1").
#'
#' @param once whether it takes an Idempotency-Key: then it is tried again where its answer was lost, and done once
#' @return a list, which is empty where the service has nothing to say
advisory_call <- function(client, method, path, body = NULL, once = FALSE) {
  body <- Filter(Negate(is.null), body)
  headers <- c(Accept = "application/json")
  if (once) headers["Idempotency-Key"] <- .new_name()
  text <- NULL
  if (method != "GET" && !is.null(body)) {
    headers["Content-Type"] <- "application/json"
    text <- .json(body)
  }
  answer <- .send(client, method, path, text, headers, once || method != "POST")
  if (nzchar(answer)) jsonlite::fromJSON(answer, simplifyVector = FALSE) else list()
}

# Texts in a column as they were sent: those of a table have an apostrophe before what spreadsheets take for a formula.
.as_sent <- function(table, column, sent) {
  if (is.factor(sent)) sent <- as.character(sent)
  if (is.character(sent) && column %in% names(table)) {
    table[[column]] <- ifelse(is.na(sent), table[[column]], sent)
  }
  table
}

# The texts that a function finds in the members of a list; NA where it finds none.
.texts <- function(members, find) {
  vapply(members, function(member) {
    found <- find(member)
    if (is.character(found) && length(found) == 1) found else NA_character_
  }, "", USE.NAMES = FALSE)
}

# A coordinate that is a text, perhaps with a decimal comma, as a number; a text that is none is left to the service.
.number <- function(value) {
  number <- suppressWarnings(as.numeric(sub(",", ".", trimws(as.character(value)), fixed = TRUE)))
  if (is.na(number)) as.character(value) else number
}

# The rows of a data frame as objects of JSON, without what is empty.
.lines <- function(frame) {
  vapply(seq_len(nrow(frame)), function(row) {
    members <- Filter(function(value) !is.na(value), as.list(frame[row, , drop = FALSE]))
    for (name in intersect(c("lat", "lng"), names(members))) members[[name]] <- .number(members[[name]])
    .json(members)
  }, "")
}

.json <- function(value) as.character(jsonlite::toJSON(value, auto_unbox = TRUE, digits = NA, null = "null"))

.query <- function(parameters) {
  given <- Filter(Negate(is.null), parameters)
  if (length(given) == 0) return("")
  pairs <- paste0(names(given), "=", vapply(given, function(value) curl::curl_escape(value), ""))
  paste0("?", paste(pairs, collapse = "&"))
}

# What a function gives for groups of so many, one below the other. Columns that one of them lacks are empty there.
.in_groups <- function(count, size, ask) {
  starts <- if (count > 0) seq(1, count, by = size) else integer()
  tables <- lapply(starts, function(start) ask(start:min(start + size - 1, count)))
  if (length(tables) == 0) return(data.frame())
  first <- tables[[1]]
  if (all(first$code %in% c("INVALID_PARAMETERS", "INVALID_GEOMETRY", "MALFORMED_JSON"))) {
    said <- paste0("All ", nrow(first), " places are refused. The first one: ", first$error[1])
    stop(.condition(said, first$code[1], 400))
  }
  columns <- unique(unlist(lapply(tables, names)))
  filled <- lapply(tables, function(table) {
    table[setdiff(columns, names(table))] <- NA
    table[columns]
  })
  do.call(rbind, filled)
}

# The answer for many places as a data frame. One that ends with what stands for the rest is asked for again.
.table <- function(client, path, body, type, count = NULL) {
  headers <- c("Content-Type" = type, Accept = "text/csv")
  for (attempt in seq_len(client$retries + 1)) {
    text <- .send(client, "POST", path, body, headers, TRUE)
    table <- utils::read.csv(text = text, check.names = FALSE, stringsAsFactors = FALSE, na.strings = "",
                             colClasses = c(id = "character", name = "character"), encoding = "UTF-8")
    last <- utils::tail(table, 1)
    fault <- nrow(last) == 1 && is.na(last$id) && last$code %in% c("OVERLOADED", "DATABASE_UNAVAILABLE")
    if (!fault && (is.null(count) || nrow(table) == count)) return(table)
    if (attempt <= client$retries) Sys.sleep(min(.wait_before(attempt, NULL), client$max_wait))
  }
  stop(.condition("The answer was cut off.", "INCOMPLETE_ANSWER"))
}

# Sends a request until it is answered, and gives the text of the answer where it is none of an error.
.send <- function(client, method, path, body, headers, repeatable) {
  key <- if (is.function(client$key)) client$key() else client$key
  if (!is.null(key)) headers["Authorization"] <- paste("Bearer", key)
  for (attempt in seq_len(client$retries + 1)) {
    handle <- curl::new_handle()
    curl::handle_setopt(handle, customrequest = method)
    if (!is.null(body)) curl::handle_setopt(handle, copypostfields = enc2utf8(body))
    do.call(curl::handle_setheaders, c(list(handle), as.list(headers)))
    answer <- tryCatch(curl::curl_fetch_memory(paste0(client$base, path), handle), error = identity)
    if (inherits(answer, "error")) {
      refusal <- .condition(paste("The service cannot be reached:", conditionMessage(answer)), "NETWORK_ERROR")
      busy <- repeatable
    } else {
      text <- rawToChar(answer$content)
      Encoding(text) <- "UTF-8"
      if (answer$status_code < 400) return(text)
      refusal <- .refusal(answer, text)
      busy <- answer$status_code == 429 || (answer$status_code == 503 && repeatable) ||
        (answer$status_code == 409 && !is.null(refusal$retry_after))
    }
    wait <- .wait_before(attempt, refusal$retry_after)
    if (attempt > client$retries || !busy || wait > client$max_wait) stop(refusal)
    Sys.sleep(wait)
  }
}

# As long as the service says, and part of as much again, so that those who wait do not come back together.
.wait_before <- function(attempt, retry_after) {
  wait <- if (is.null(retry_after)) 0.25 * 2^(attempt - 1) else retry_after
  wait * (1 + as.numeric(Sys.time()) %% 0.01 * 50)
}

# A name that no other request has. R's own random numbers are left to the analysis, which may have set their seed.
.new_name <- function() {
  paste(basename(tempfile("")), Sys.getpid(), format(as.numeric(Sys.time()) * 1e6, digits = 17), sep = "-")
}

# What the service said. What stands between may have answered in another form.
.refusal <- function(answer, text) {
  body <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(unreadable) list())
  if (!is.list(body)) body <- list()
  headers <- curl::parse_headers_list(answer$headers)
  after <- suppressWarnings(as.numeric(headers[["retry-after"]]))
  .condition(
    if (is.null(body[["error"]])) paste("The answer has the status", answer$status_code) else body[["error"]],
    if (is.null(body[["code"]])) "UNKNOWN_ERROR" else body[["code"]],
    status = answer$status_code,
    request_id = if (is.null(body[["request_id"]])) headers[["x-request-id"]] else body[["request_id"]],
    details = body[["details"]],
    retry_after = if (length(after) == 1 && !is.na(after)) after
  )
}

.condition <- function(message, code, status = 0, request_id = NULL, details = NULL, retry_after = NULL) {
  structure(
    class = c("advisory_error", "error", "condition"),
    list(message = message, call = NULL, code = code, status = status, request_id = request_id,
         details = details, retry_after = retry_after)
  )
}

