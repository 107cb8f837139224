// A hub of the tests' own: the built `tandem`, on a free port, with profiles in a folder of its own.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const TANDEM = process.env.HUB_BINARY ?? fileURLToPath(new URL("../../../target/debug/tandem", import.meta.url));
export const PATIENCE = 120;

export class Hub {
  place = mkdtempSync(join(tmpdir(), "tandem-ts-"));
  env = { ...process.env, XDG_CONFIG_HOME: join(this.place, "config"), XDG_STATE_HOME: join(this.place, "state") };
  port = 0;

  static async start(test, ...settings) {
    const hub = new Hub();
    hub.settings = ["rate_limit_register_max=0", "rate_limit_max=0", "max_messages_per_minute=0", ...settings];
    // The package reads profiles where the command line has them.
    Object.assign(process.env, { XDG_CONFIG_HOME: hub.env.XDG_CONFIG_HOME, XDG_STATE_HOME: hub.env.XDG_STATE_HOME });
    test.after(async () => {
      await hub.kill();
      rmSync(hub.place, { recursive: true, force: true });
    });
    await hub.run();
    return hub;
  }
  async run() {
    const given = ["serve", "--data", join(this.place, "data"), "--listen", `127.0.0.1:${this.port}`];
    for (const setting of this.settings) given.push("--set", setting);
    this.process = spawn(TANDEM, given, { env: this.env, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: this.process.stdout })) {
      const [, port] = line.match(/Listening\s+http:\/\/127\.0\.0\.1:(\d+)/) ?? [];
      if (port === undefined) continue;
      this.port = Number(port);
      this.process.stdout.resume();
      return;
    }
    throw new Error("the hub does not start");
  }
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }
  async kill() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }
  /** Runs the command line. */
  async tandem(...given) {
    const { stdout } = await promisify(execFile)(TANDEM, given, { env: this.env });
    return stdout;
  }
}

/** Waits for a state. */
export async function eventually(check) {
  for (const deadline = Date.now() + PATIENCE * 1000; ; ) {
    const found = await check();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`it did not come: ${check}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Sends calls, but loses the answer of those that `isLost` names. */
export const losing = (isLost) => async (url, init) => {
  const response = await fetch(url, init);
  if (!isLost(init, new URL(url).pathname)) return response;
  await response.arrayBuffer();
  throw new TypeError("fetch failed", { cause: { code: "ECONNRESET" } });
};
/** A hub that lies: `change` gets each JSON answer and may change it. */
export const lying = (change) => async (url, init) => {
  const response = await fetch(url, init);
  if (!response.headers.get("content-type")?.includes("json") || !response.ok) return response;
  const json = await response.json();
  return new Response(JSON.stringify(change(new URL(url).pathname, json) ?? json), {
    headers: { link: response.headers.get("link") ?? "" },
  });
};
