// Node's `ws` package as a client: prints each frame as a line. Ends after FRAMES of them.
import { createRequire } from "node:module";
const require = createRequire(process.env.FOREIGN + "/");
const { WebSocket } = require("ws");

const socket = new WebSocket(process.env.URL, { headers: { Authorization: `Bearer ${process.env.KEY}` } });
let left = Number(process.env.FRAMES);
socket.on("message", (data) => {
  console.log(data.toString());
  left -= 1;
  if (left === 0) socket.close();
});
socket.on("close", () => process.exit(0));
socket.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
