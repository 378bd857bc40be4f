// stranger.mjs - a process of another user of this machine. Needs root to become one.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { PATIENCE_MS, until } from './wait.mjs';

export const NOBODY = 65534;
export const cannot = process.getuid() === 0 ? false : 'only root can be somebody else';

// Perl is on every Debian, and readable for everybody. It obeys lines: "connect N", "send TEXT" (on every connection, with
// \r and \n written out), "frame TEXT" (a message of WebSocket, below
// 126 bytes), "read" (what the first connection has got until it ends or is silent), "close".
const SCRIPT = String.raw`
use IO::Socket::INET; use IO::Select; $| = 1; my @all; my $port = shift;
while (my $line = <STDIN>) {
  chomp $line; my ($word, $rest) = split / /, $line, 2;
  if ($word eq 'connect') {
    for (1..$rest) { my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5); push @all, $s if $s; }
  } elsif ($word eq 'send') {
    $rest =~ s/\\r/\r/g; $rest =~ s/\\n/\n/g; local $SIG{PIPE} = 'IGNORE'; syswrite($_, $rest) for @all;
  } elsif ($word eq 'frame') {
    syswrite($_, pack('CCN', 0x81, 0x80 | length $rest, 0) . $rest) for @all;
  } elsif ($word eq 'read') {
    my ($text, $select) = ('', IO::Select->new($all[0]));
    while ($select->can_read(1)) { sysread($all[0], my $piece, 65536) or last; $text .= $piece; }
    $text =~ s/\r/\\r/g; $text =~ s/\n/\\n/g; print "$text\n"; next;
  } elsif ($word eq 'close') { close $_ for @all; @all = (); }
  print scalar(@all), "\n";
}`;

/** Starts one; ends with the test `t`. */
export async function stranger(t, daemon, uid = NOBODY) {
  const child = spawn('/usr/bin/perl', ['-e', SCRIPT, String(daemon.port)], { uid, gid: uid, cwd: '/', env: { PATH: '/usr/bin:/bin' }, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = [];
  let part = '';
  child.stdout.setEncoding('utf8').on('data', (data) => {
    const [...all] = (part + data).split('\n');
    part = all.pop();
    lines.push(...all);
  });
  t.closeLater({ close: () => child.kill('SIGKILL') });
  const tell = async (line) => {
    child.stdin.write(`${line}\n`);
    await until(`an answer to ${line.slice(0, 30)}`, () => lines.length > 0, { ms: PATIENCE_MS });
    return lines.shift();
  };
  const spelt = (text) => text.replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  return {
    connect: async (count) => Number(await tell(`connect ${count}`)),
    send: (text) => tell(`send ${spelt(text)}`),
    read: async () => (await tell('read')).replaceAll('\\r', '\r').replaceAll('\\n', '\n'),
    frame: (text) => tell(`frame ${text}`),
    close: () => tell('close'),
    /** {status, text} of one request, on a connection of its own. */
    async ask(text) {
      await tell('close');
      await tell('connect 1');
      await tell(`send ${spelt(text)}`);
      const answer = await this.read();
      return { status: Number(answer.match(/^HTTP\/1\.1 (\d{3})/)?.[1]), text: answer };
    },
  };
}
