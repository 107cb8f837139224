"""Python's `websockets` package as a client: prints each frame as a line. Ends after FRAMES of them."""

import asyncio
import os

import websockets


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['KEY']}"}
    async with websockets.connect(os.environ["URL"], additional_headers=headers) as socket:
        for _ in range(int(os.environ["FRAMES"])):
            print(await socket.recv(), flush=True)


asyncio.run(main())
