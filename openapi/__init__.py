"""Describes the HTTP API: makes functions/show_openapi/openapi.json, which GET /openapi.json answers.

It reads what the functions themselves declare, routes, roles, limits and the pydantic models that validate
their requests, and adds what no running function needs to know: what is answered, which refusals are
possible, examples. None of it is deployed, so it may import what it likes; the document is made before a
commit (``make openapi``), and a test says when it is stale.

Powertools can write a document of each function, and merge them. It leaves out limits, defaults and choices
of queries, makes every body required, knows no answer of ours, and where two models have one name, the last
one wins in silence. Here all models go through pydantic in one call, and two of one name are an error.
"""
