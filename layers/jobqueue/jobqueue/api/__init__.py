"""The HTTP side of jobqueue: it reads requests, asks the queue, and answers. It knows nothing of DynamoDB."""
