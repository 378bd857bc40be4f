// wire.mjs - a wire between browser and daemon that can be cut without anybody being told: what is sent into it is lost, as
// when a laptop leaves the network.
import net from 'node:net';

export class Wire {
  /** port: of the daemon. */
  static async lay(port) {
    const wire = new Wire();
    wire.far = port;
    wire.sockets = new Set();
    wire.cut = false;
    wire.server = net.createServer((near) => wire.#join(near));
    await new Promise((resolve) => wire.server.listen(0, '127.0.0.1', resolve));
    wire.port = wire.server.address().port;
    return wire;
  }

  #join(near) {
    const far = net.connect(this.far, '127.0.0.1');
    const lost = this.cut; // a connection made meanwhile is dead as well
    for (const [from, to] of [[near, far], [far, near]]) {
      this.sockets.add(from);
      from.dead = lost;
      from.on('data', (data) => from.dead || this.cut || to.write(data));
      from.on('close', () => {
        this.sockets.delete(from);
        if (!from.dead && !this.cut) to.destroy();
      });
      from.on('error', () => from.destroy());
    }
  }

  /** What is connected now never hears of the other side again, nor of its end. */
  break() {
    this.cut = true;
    for (const socket of this.sockets) socket.dead = true;
  }

  /** New connections work. */
  mend() {
    this.cut = false;
  }

  close() {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
