#!/usr/bin/env python3
"""trickle.py ASKED - a proxy that never comes to an end: to each request it begins an answer, of which a byte comes each second.

Prints its port, and writes each request's first line to the file ASKED. Ends by itself after ten minutes.
"""
import os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

end = time.monotonic() + 600
asked = open(sys.argv[1], "a", buffering=1)


class Trickle(BaseHTTPRequestHandler):
    def do_GET(self):
        asked.write(self.requestline + "\n")
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        while time.monotonic() < end:
            self.wfile.write(b"\n")
            self.wfile.flush()
            time.sleep(1)

    def log_message(self, *_):
        pass


threading.Timer(600, lambda: os._exit(0)).start()
server = ThreadingHTTPServer(("127.0.0.1", 0), Trickle)
print(server.server_port, flush=True)
server.serve_forever()
