"""An S3-compatible store with one bucket, called "files": prints its port, and ends with its standard input.

A line of input makes everything in the bucket older by so many seconds; it is answered by a line.
"""

import datetime
import logging
import sys

from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.s3.models import s3_backends

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
store = s3_backends["123456789012"]["aws"]
store.create_bucket("files", "us-east-1")
print(server.get_host_and_port()[1], flush=True)
for line in sys.stdin:
    for key in store.buckets["files"].keys.values():
        key.last_modified -= datetime.timedelta(seconds=int(line))
    print("done", flush=True)
