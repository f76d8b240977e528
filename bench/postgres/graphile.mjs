// The peer's side of the PostgreSQL bench: no-op jobs through graphile-worker. Says `ready`, then does a phase for each
// line it is told and prints one JSON object about it.
//
//   node graphile.mjs URL JOBS SETTINGS
//
// SETTINGS is JSON: the `worker` part of a preset. Jobs carry an id, as docmill's tasks do, and are added through
// addJobs, the cheapest way there is. graphile-worker removes jobs when they are done; it has no option to keep them.
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";

// The packages lie in a folder of their own, so that nothing is installed into the checkout.
const require = createRequire(`${process.env.GRAPHILE_HOME}/`);
const { run, makeWorkerUtils, Logger } = require("graphile-worker");

const [connectionString, count, settings] = [process.argv[2], Number(process.argv[3]), JSON.parse(process.argv[4])];
const BULK = 1000;
const WARM_UP_JOBS = 3000;
const logger = new Logger(() => (level, message) => {
  if (level === "error") stop(message);
});

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function add(utils, count) {
  for (let done = 0; done < count; done += BULK) {
    const size = Math.min(BULK, count - done);
    await utils.addJobs(Array.from({ length: size }, () => ({ identifier: "no-op", payload: { id: randomUUID() } })));
  }
}

// Done means that the jobs are gone from the database: `stop` waits for completions that are still on their way.
async function work(count) {
  const events = new EventEmitter();
  let completed = 0;
  const done = new Promise((resolve) => {
    events.on("job:complete", ({ error }) => {
      if (error) stop(error);
      completed += 1;
      if (completed === count) resolve();
    });
  });
  const preset = { worker: { connectionString, logger, ...settings } };
  const runner = await run({ preset, events, taskList: { "no-op": async () => {} }, noHandleSignals: true });
  await done;
  await runner.stop();
}

async function phase(name, does) {
  await told();
  const before = { cpu: cpuMs(), at: performance.now() };
  await does();
  console.log(JSON.stringify({ phase: name, cpu_ms: cpuMs() - before.cpu, elapsed_ms: performance.now() - before.at }));
}

function stop(error) {
  console.error(error);
  process.exit(1);
}

// Waits for a line from the runner, which reads the cost of the server between phases.
const input = process.stdin[Symbol.asyncIterator]();
async function told() {
  await input.next();
}

const utils = await makeWorkerUtils({ connectionString, logger });
await utils.migrate();
// A server has been running for a while: let the compiler see the code before anything is measured.
await add(utils, WARM_UP_JOBS);
await work(WARM_UP_JOBS);
console.log("ready");
await phase("queued", () => add(utils, count));
await phase("worked", () => work(count));
await told();
await utils.release();
process.exit(0);
