-- Asks paths out of a file, each thread from a place of its own.
-- Arguments: the file with a path a line, and milliseconds between two requests of a connection. The results go to the
-- file that the variable WRK_RESULTS names: at the end arguments are not known any more.
local threads = {}

function setup(thread)
  thread:set("id", #threads)
  table.insert(threads, thread)
end

function init(args)
  paths, pause = {}, tonumber(args[2])
  for line in io.lines(args[1]) do table.insert(paths, line) end
  at = id * 7919
end

function request()
  at = at + 1
  return wrk.format("GET", paths[at % #paths + 1])
end

function delay()
  return pause
end

function done(summary, latency)
  local out = io.open(os.getenv("WRK_RESULTS"), "w")
  out:write(string.format(
    '{"seconds": %.3f, "answers": %d, "refused": %d, "broken": %d, "p50_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f}',
    summary.duration / 1e6, summary.requests, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
  out:close()
end
