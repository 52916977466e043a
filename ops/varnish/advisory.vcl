vcl 4.1;

import std;

backend advisory {
  .host = "127.0.0.1";
  .port = "3001";
  # Without readiness, stored answers serve: see grace below.
  .probe = {
    .url = "/health/ready";
    .interval = 1s;
    .timeout = 1s;
    .window = 3;
    .threshold = 2;
    .initial = 2;
  }
}

sub vcl_recv {
  # The order of parameters does not matter.
  set req.url = std.querysort(req.url);
  # The service has no cookies; others would keep answers from being shared.
  unset req.http.Cookie;
  # Expired answers serve only while the service is away.
  if (std.healthy(req.backend_hint)) {
    set req.grace = 0s;
  }
  # Varnish passes calls with a token, and methods but GET and HEAD, by default.
}

sub vcl_backend_response {
  # Answers without Cache-Control are not stored.
  if (!beresp.http.Cache-Control) {
    set beresp.uncacheable = true;
  }
  # Varnish does not read stale-if-error.
  set beresp.grace = 0s;
  if (beresp.http.Cache-Control ~ "stale-if-error=86400") {
    set beresp.grace = 1d;
  }
  # A conditional request costs the service less than a new answer.
  set beresp.keep = 1d;
}

sub vcl_backend_error {
  # The same JSON as the service.
  set beresp.status = 503;
  set beresp.http.Content-Type = "application/json; charset=utf-8";
  set beresp.http.Cache-Control = "no-store";
  set beresp.http.Retry-After = "1";
  synthetic("""{"error":"The service cannot be reached; try again in a second.","code":"OVERLOADED"}""");
  return (deliver);
}

sub vcl_deliver {
  # A stored answer has the id of another request.
  if (obj.hits > 0) {
    unset resp.http.X-Request-Id;
  }
}
