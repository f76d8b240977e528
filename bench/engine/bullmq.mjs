// The peer's side of the engine bench: no-op jobs through BullMQ, or the time from adding a job to its start on an
// idle queue. Prints one JSON object.
//
//   node bullmq.mjs throughput PORT JOBS CONCURRENCY
//   node bullmq.mjs idle PORT SAMPLES
//
// Jobs carry an id, as docmill's tasks do, and are kept after completion, because docmill keeps its own. The options
// are BullMQ's defaults; adding goes through addBulk, the cheapest way it has.
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { randomUUID } from "node:crypto";

// The packages lie in a folder of their own, so that nothing is installed into the checkout.
const require = createRequire(`${process.env.BULLMQ_HOME}/`);
const { Queue, Worker } = require("bullmq");

const [mode, port, count, concurrency] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
const BULK = 1000;
const WARM_UP_JOBS = 3000;

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function throughput() {
  const queue = new Queue("bench", { connection });
  await queue.waitUntilReady();
  let completed = 0;
  let wanted;
  const worker = new Worker("bench", async () => {}, { connection, concurrency });
  worker.on("completed", () => {
    completed += 1;
    if (completed === wanted?.count) wanted.resolve();
  });
  worker.on("failed", (_, error) => stop(error));
  worker.on("error", stop);
  await worker.waitUntilReady();
  const all = (count) => new Promise((resolve) => (wanted = { count, resolve }));

  // A server has been running for a while: let the compiler see the code before anything is measured.
  const warm = all(WARM_UP_JOBS);
  await add(queue, WARM_UP_JOBS);
  await warm;
  await worker.pause();
  console.log("ready");
  await told();

  await phase("added", () => add(queue, count));
  await told();
  await phase("worked", async () => {
    const done = all(WARM_UP_JOBS + count);
    worker.resume();
    await done;
  });
  await told();
  await worker.close();
  await queue.close();
}

async function add(queue, count) {
  for (let done = 0; done < count; done += BULK) {
    const jobs = Array.from({ length: Math.min(BULK, count - done) }, () => ({ name: "no-op", data: { id: randomUUID() } }));
    await queue.addBulk(jobs);
  }
}

async function phase(name, run) {
  const before = { cpu: cpuMs(), at: performance.now() };
  await run();
  console.log(JSON.stringify({ phase: name, node_cpu_ms: cpuMs() - before.cpu, elapsed_ms: performance.now() - before.at }));
}

function stop(error) {
  console.error(error);
  process.exit(1);
}

async function idle() {
  const queue = new Queue("idle", { connection });
  let started;
  const worker = new Worker("idle", async () => started(performance.now()), { connection });
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  const samples = [];
  // The first ones warm up scripts and connections, and are not counted.
  const WARM_UP = 20;
  for (let i = 0; i < count + WARM_UP; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const start = new Promise((resolve) => (started = resolve));
    const before = performance.now();
    await queue.add("no-op", { id: randomUUID() });
    const latency = (await start) - before;
    if (i >= WARM_UP) samples.push(latency);
  }
  console.log(JSON.stringify({ samples_ms: samples }));
  await worker.close();
  await queue.close();
}

// Waits for a line from the runner, which reads the cost of the Redis process between phases.
const input = process.stdin[Symbol.asyncIterator]();
async function told() {
  await input.next();
}

await (mode === "idle" ? idle() : throughput());
process.exit(0);
