-- what wrk asks for, and the share of requests that went wrong, which it prints only where there were some
wrk.headers["Accept-Encoding"] = "gzip"
function done(summary)
  local e = summary.errors
  local wrong = e.connect + e.read + e.write + e.status + e.timeout
  io.write(string.format("errors %g %%\n", 100 * wrong / math.max(summary.requests + wrong, 1)))
end
