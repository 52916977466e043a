# Tests of the client: AGRO_URL is the address of a service with the demo data, AGRO_KEY a key or a token for it.
source("agro_advisory.R")

url <- Sys.getenv("AGRO_URL")
client <- advisory_client(paste0(url, "/"), key = function() Sys.getenv("AGRO_KEY"))

# A point is answered as a list, and is in the history.
answer <- advise_point(client, "yield", lat = 9.5, lng = 38.5, name = "H\u00e4r")
stopifnot(answer$location$name == "H\u00e4r", answer$yield_data[[2]]$yield_kg_ha > 0)
history <- advisory_call(client, "GET", "/history/my?limit=1")
stopifnot(history$items[[1]]$id == answer$history_id)

# What is deleted is answered with nothing.
stopifnot(identical(advisory_call(client, "DELETE", paste0("/history/", answer$history_id)), list()))

# A refusal is a condition with its code, status and id.
refusal <- tryCatch(advise_point(client, "fertilizer", lat = 9.5, lng = 38.5, crop = "potato"), advisory_error = identity)
stopifnot(refusal$code == "CROP_NOT_AVAILABLE", refusal$status == 400, nchar(refusal$request_id) > 0)
stopifnot(refusal$details[[1]]$field == "crop")

# Points are cut into calls, and come back in one data frame in their order.
points <- data.frame(id = sprintf("%03d", 1:25), lat = 9 + (1:25) / 50, lng = 38.5, area_ha = 1)
points$lng[3] <- -100
table <- advise_points(client, "yield", points, crop = "wheat", country_code = "eth", batch_size = 10)
stopifnot(identical(table$id, points$id), table$code[3] == "OUTSIDE_COUNTRY", is.na(table$code[1]))
alone <- advise_point(client, "yield", lat = points$lat[25], lng = points$lng[25])
stopifnot(table[["yield_kg_ha Normal"]][25] == alone$yield_data[[2]]$yield_kg_ha)

# Ids and names come back as they were sent, whatever a spreadsheet would take them for.
odd <- data.frame(id = c("=1", "007", "TRUE"), name = c("-a", "1e3", NA), lat = 9.5, lng = 38.5)
back <- advise_points(client, "yield", odd, batch_size = 2)
stopifnot(identical(back$id, odd$id), identical(back$name[1:2], odd$name[1:2]), is.character(back$name))

# So do polygons, and the areas of a level.
ring <- list(list(38.5, 9.5), list(38.51, 9.5), list(38.51, 9.51), list(38.5, 9.5))
geometry <- list(type = "Polygon", coordinates = list(ring))
field <- function(id) list(type = "Feature", id = id, geometry = geometry, properties = NULL)
fields <- advise_polygons(client, "fertilizer", list(field("+a"), field("b")), batch_size = 1)
polygon <- advise_polygon(client, "fertilizer", geometry = geometry)
stopifnot(identical(fields$id, c("+a", "b")), fields$area_ha == polygon$location$area_ha)
areas <- advise_areas(client, "isfm", country_code = "rwa", level = 1, crop = "potato")
listed <- advisory_call(client, "GET", "/admin?admin0=rwa&level=1")
stopifnot(identical(areas$id, vapply(listed$items, function(area) area$code, "")))

# Members are found by their whole names.
unnamed <- list(type = "Feature", geometry = geometry, properties = list(id_district = "7", name_local = "x"))
back <- advise_polygons(client, "fertilizer", list(unnamed))
stopifnot(nrow(back) == 1, is.na(back$id), !back$name %in% "x")
between <- list(status_code = 502, headers = charToRaw("HTTP/1.1 502 Bad Gateway\r\n\r\n"))
for (text in c('{"errors": "x", "codes": "y"}', '["x"]', '"x"')) {
  said <- .refusal(between, text)
  stopifnot(said$message == "The answer has the status 502", said$code == "UNKNOWN_ERROR")
}

# Nobody there is an error as well.
nobody <- tryCatch(
  advise_point(advisory_client("http://127.0.0.1:1", retries = 1), "yield", 9.5, 38.5),
  advisory_error = identity
)
stopifnot(nobody$code == "NETWORK_ERROR", nobody$status == 0)

cat("all passed\n")
