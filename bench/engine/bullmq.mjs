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

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function throughput() {
  const queue = new Queue("bench", { connection });
  await queue.waitUntilReady();
  const worker = new Worker("bench", async () => {}, { connection, concurrency, autorun: false });
  await worker.waitUntilReady();
  console.log("ready");
  await told();

  const add = { cpu: cpuMs(), at: performance.now() };
  for (let done = 0; done < count; done += BULK) {
    const jobs = Array.from({ length: Math.min(BULK, count - done) }, () => ({ name: "no-op", data: { id: randomUUID() } }));
    await queue.addBulk(jobs);
  }
  console.log(JSON.stringify({ phase: "added", node_cpu_ms: cpuMs() - add.cpu, elapsed_ms: performance.now() - add.at }));
  await told();

  const work = { cpu: cpuMs(), at: performance.now() };
  let completed = 0;
  await new Promise((resolve, reject) => {
    worker.on("completed", () => {
      completed += 1;
      if (completed === count) resolve();
    });
    worker.on("failed", (_, error) => reject(error));
    worker.on("error", reject);
    // It ends only when the worker is closed.
    worker.run().catch(reject);
  });
  console.log(JSON.stringify({ phase: "worked", node_cpu_ms: cpuMs() - work.cpu, elapsed_ms: performance.now() - work.at }));
  await told();
  await worker.close();
  await queue.close();
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
