// behind.mjs - puts a proxy before a daemon that is there already, such as that of a container, and looks whether everything holds behind it.
// `node tests/image/behind.mjs PROXY DIRECTORY FRONT BACK`: the port of the proxy, whose name https://paige.example.org:FRONT the daemon has
// to know, and that of the daemon; TOKEN in the environment. Ends with 77 and the reason where this proxy cannot be tried.
import { checkBehind, PROXIES, publicHost, startProxy, withoutProxy } from '../integration/lib/proxies.mjs';

const [kind, directory, front, back] = process.argv.slice(2);
if (!PROXIES.includes(kind)) throw new Error(`this is none of ${PROXIES.join(', ')}: ${kind}`);
if (withoutProxy(kind)) {
  console.log(withoutProxy(kind));
  process.exit(77);
}
const proxy = startProxy(kind, directory, Number(front), Number(back));
try {
  await checkBehind({ front: Number(front), host: publicHost(front) }, proxy, process.env.TOKEN);
  console.log('TLS, token, Host, Origin, page, WebSocket, /mcp and its stream');
} finally {
  proxy.close();
}
