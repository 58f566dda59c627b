"""The HTTP side of jobqueue: it reads requests, asks the queue, and answers. It knows nothing of DynamoDB."""

import gc

# What a function makes while it starts, most of it the SDK's models, lives as long as the process. To look
# through it for garbage every few hundred objects would take an eighth of the time.
gc.set_threshold(100_000)
