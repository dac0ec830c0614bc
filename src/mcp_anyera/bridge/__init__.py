"""``anyera bridge``: a legacy server for any client, in front of any server.

The engine does the translation. What is here is the client side of it, as lines on
stdin and stdout (`stdio`) or as a Streamable HTTP server on loopback (`web`), and
what the command line says (`options`). A client that waits for the bridge waits for
every import, so nothing here imports the SDK before something needs it.
"""
