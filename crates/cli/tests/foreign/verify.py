"""Checks a webhook with the Standard Webhooks library: reads {secret, format, headers, body}, prints what it holds."""

import json
import sys

from standardwebhooks.webhooks import Webhook

request = json.load(sys.stdin)
secret = request["secret"]
webhook = Webhook(secret.encode() if request["format"] == "raw" else secret)
print(json.dumps(webhook.verify(request["body"], request["headers"])))
