"""Writes a C header with the bytes of a file: embed.py FILE NAME > HEADER."""

import sys

path, name = sys.argv[1:]
with open(path, 'rb') as file:
    data = file.read()
print(f'/* Made from {name.replace("_", ".")}; do not edit. */')
print(f'static const unsigned char {name}[{len(data)}] = {{')
for start in range(0, len(data), 20):
    print('\t' + ' '.join(f'{byte},' for byte in data[start:start + 20]))
print('};')
