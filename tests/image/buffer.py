#!/usr/bin/env python3
"""buffer.py PORT PATH - prints what Claude Code is told by paige_get_buffer. TOKEN in the environment is shown to the daemon."""
import json, os, sys, urllib.request

port, path = sys.argv[1:]
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": f"Bearer {os.environ['TOKEN']}"}


def post(message):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", json.dumps({"jsonrpc": "2.0", **message}).encode(), headers)
    with urllib.request.urlopen(request, timeout=15) as answer:
        headers["Mcp-Session-Id"] = answer.headers.get("Mcp-Session-Id") or headers.get("Mcp-Session-Id", "")
        return answer.read().decode()


client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "buffer.py", "version": "1"}}
post({"id": 1, "method": "initialize", "params": client})
post({"method": "notifications/initialized"})
print(post({"id": 2, "method": "tools/call", "params": {"name": "paige_get_buffer", "arguments": {"path": path}}}))
