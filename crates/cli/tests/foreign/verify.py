"""Checks a webhook with the Standard Webhooks library: reads {secret, headers, body}, prints what it holds."""

import json
import sys

from standardwebhooks.webhooks import Webhook

request = json.load(sys.stdin)
verified = Webhook(request["secret"]).verify(request["body"], request["headers"])
print(json.dumps(verified))
