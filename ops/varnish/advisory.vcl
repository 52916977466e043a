vcl 4.1;

import std;

backend advisory {
  .host = "127.0.0.1";
  .port = "3001";
  # An instance that is not ready is not asked, and what is known answers for it: see grace below.
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
  # The same question in another order is the same question.
  set req.url = std.querysort(req.url);
  # The service knows no cookies; those of other pages of the host would keep answers from being shared.
  unset req.http.Cookie;
  # Answers are as old as they say (a minute), and no older; but for while nobody else answers.
  if (std.healthy(req.backend_hint)) {
    set req.grace = 0s;
  }
  # What remains is Varnish's own: calls with a token and those that are no GET or HEAD go to the service, always.
}

sub vcl_backend_response {
  # What says nothing of caches is asked for each time.
  if (!beresp.http.Cache-Control) {
    set beresp.uncacheable = true;
  }
  # "stale-if-error": Varnish does not read it.
  set beresp.grace = 0s;
  if (beresp.http.Cache-Control ~ "stale-if-error=86400") {
    set beresp.grace = 1d;
  }
  # To ask by its tag for what is not new costs the service less than to answer anew.
  set beresp.keep = 1d;
}

sub vcl_backend_error {
  # As the service says it: JSON, with a code for programs.
  set beresp.status = 503;
  set beresp.http.Content-Type = "application/json; charset=utf-8";
  set beresp.http.Cache-Control = "no-store";
  set beresp.http.Retry-After = "1";
  synthetic("""{"error":"The service cannot be reached; try again in a second.","code":"OVERLOADED"}""");
  return (deliver);
}

sub vcl_deliver {
  # The id of the call that asked the service is not that of this one.
  if (obj.hits > 0) {
    unset resp.http.X-Request-Id;
  }
}
