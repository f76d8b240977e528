/** A real docmill with a data directory of its own, on a free port of this machine. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

export const fixture = (name: string): string => resolve(import.meta.dirname, "../../../fixtures", name);

function binary(): string {
  const path = process.env["DOCMILL_BIN"];
  if (!path) throw new Error("DOCMILL_BIN names no binary; web/test.sh builds one");
  return path;
}

export class Docmill {
  private process: ChildProcess | null = null;
  private address = "127.0.0.1:0";
  private log = "";

  private constructor(readonly data: string) {}

  static async start(): Promise<Docmill> {
    const server = new Docmill(await mkdtemp(join(tmpdir(), "docmill-journey-")));
    await server.up();
    return server;
  }

  get url(): string {
    return `http://${this.address}`;
  }

  /** Starts, on the address that it had before if it had one. */
  async up(): Promise<void> {
    const child = spawn(binary(), ["--data", this.data, "--json", "serve", "--listen", this.address], { stdio: ["ignore", "pipe", "pipe"] });
    this.process = child;
    child.stderr?.on("data", (piece: Buffer) => { this.log += piece.toString(); });
    let said = "";
    const listen = await new Promise<string>((found, failed) => {
      child.on("exit", (code) => failed(new Error(`docmill ended with ${code} before it listened:\n${this.log}`)));
      child.stdout?.on("data", (piece: Buffer) => {
        said += piece.toString();
        if (said.includes("\n")) found((JSON.parse(said.slice(0, said.indexOf("\n"))) as { listen: string }).listen);
      });
    });
    this.address = listen;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    const child = this.process;
    this.process = null;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await gone;
  }

  /** A command beside the server. */
  async cli(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(binary(), ["--data", this.data, ...args]).catch((error: { code?: number; stdout?: string }) => {
      // 7: finished, but some items failed. Journeys about failures want exactly that.
      if (error.code === 7) return { stdout: error.stdout ?? "" };
      throw error as unknown as Error;
    });
    return stdout;
  }

  /** The files that hold the originals. */
  async blobs(): Promise<string[]> {
    const found = await readdir(join(this.data, "blobs"), { recursive: true, withFileTypes: true });
    return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.data, { recursive: true, force: true });
  }
}
