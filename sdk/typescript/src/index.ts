// The package for Node, browsers and Deno. Profiles and paths of files are in `tandem-hub/node`.
export * from "./errors.js";
export { type Event, type EventOptions, EventStream, type Notice, parseFrame, type Transport } from "./events.js";
export type { Calls } from "./generated/calls.js";
export * from "./generated/refusals.js";
export { type CallOptions, errorOf, everyPage, type Page } from "./http.js";
export { foldedName, Keyring, type KeyStore, type Known, MemoryStore, oneLine, type Pin } from "./keyring.js";
export { open, PrivateKey, PublicKey, type Sealed, seal } from "./seal.js";
export type { FileContent, Opened, Trust } from "./sealed.js";
export { type FileInput, type RegisterOptions, type SendOptions, Tandem, type TandemOptions } from "./tandem.js";
export { type Outcome, type ReceivedFile, Reply, type Result, type ResultOptions, Task } from "./task.js";
export type * from "./types.js";
export { verify, type WebhookRequest } from "./webhooks.js";
export { type Handler, Worker, type WorkerOptions } from "./worker.js";
