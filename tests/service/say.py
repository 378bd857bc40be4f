#!/usr/bin/env python3
"""say.py PORT PATH UNTIL TEXT... - says texts over WebSocket, prints what is answered until a message has UNTIL in it.

TOKEN in the environment is shown to the daemon.
"""
import base64, os, socket, struct, sys, time

port, path, until, *texts = sys.argv[1:]
end = time.monotonic() + 15
s = socket.create_connection(("127.0.0.1", int(port)), 5)
login = f"Authorization: Bearer {os.environ['TOKEN']}\r\n" if "TOKEN" in os.environ else ""
key = base64.b64encode(os.urandom(16)).decode()
s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{login}\r\n".encode())
data = b""


def more():
    global data
    s.settimeout(max(0.1, end - time.monotonic()))
    piece = s.recv(65536)
    if not piece:
        sys.exit("the connection was closed")
    data += piece


while b"\r\n\r\n" not in data:
    more()
head, data = data.split(b"\r\n\r\n", 1)
if b" 101 " not in head.split(b"\r\n")[0]:
    sys.exit(head.decode())
for text in texts:
    body = text.encode()
    length = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + struct.pack(">H", len(body))
    s.sendall(b"\x81" + length + b"\0\0\0\0" + body)  # a mask of zeros changes nothing
    time.sleep(0.3)
while True:
    while len(data) < 2 or len(data) < (start := {126: 4, 127: 10}.get(data[1], 2)) or \
            len(data) < start + (size := data[1] if data[1] < 126 else int.from_bytes(data[2:start], "big")):
        more()
    text = data[start:start + size].decode("utf-8", "replace")
    data = data[start + size:]
    print(text)
    if until in text:
        break
