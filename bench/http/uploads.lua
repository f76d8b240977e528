-- Small uploads with distinct bodies, and a table of what was answered.
-- Arguments: a word that makes bodies of this run distinct, bytes of a text, and milliseconds between two requests of a
-- connection. The results go to the file that the variable WRK_RESULTS names: at the end arguments are not known any more.
local threads = {}

function setup(thread)
  thread:set("id", #threads)
  table.insert(threads, thread)
end

function init(args)
  run, bytes, pause = args[1], tonumber(args[2]), tonumber(args[3])
  sent, accepted, refused = 0, 0, 0
  filler = string.rep("The heron stands in the shallow water and waits. ", math.ceil(bytes / 49)):sub(1, bytes)
end

function request()
  sent = sent + 1
  local name = run .. "-" .. id .. "-" .. sent
  local body = '--oOo\r\nContent-Disposition: form-data; name="file"; filename="' .. name .. '.txt"\r\n\r\n'
    .. "Letter " .. name .. "\n\n" .. filler .. "\r\n--oOo--\r\n"
  return wrk.format("POST", "/v1/documents", { ["Content-Type"] = "multipart/form-data; boundary=oOo" }, body)
end

function response(status)
  if status == 202 then accepted = accepted + 1 else refused = refused + 1 end
end

function delay()
  return pause
end

function done(summary, latency)
  local accepted, refused = 0, 0
  for _, thread in ipairs(threads) do
    accepted, refused = accepted + thread:get("accepted"), refused + thread:get("refused")
  end
  local out = io.open(os.getenv("WRK_RESULTS"), "w")
  out:write(string.format(
    '{"seconds": %.3f, "accepted": %d, "refused": %d, "broken": %d, "p50_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f}',
    summary.duration / 1e6, accepted, refused,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
  out:close()
end
