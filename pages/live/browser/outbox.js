// The edits that the server has not taken yet. A drawing of the page can lose one on its way, so it is sent again.

const AGAIN = 1500;  // milliseconds

export class Outbox {
  /** `send` gets {mount, edits}, with a number for each edit; `later` is setTimeout. */
  constructor(send, later = (work, wait) => setTimeout(work, wait)) {
    Object.assign(this, {send, later, mount: Math.random().toString(36).slice(2), waiting: [], count: 0, isOver: false});
  }

  add(edit) {
    this.waiting.push({number: ++this.count, edit});
    this.post();
  }

  post() {
    if (this.isOver || !this.waiting.length) return;
    this.send({mount: this.mount, edits: this.waiting.map(({number, edit}) => [number, edit])});
    const {count} = this;
    this.later(() => { if (this.count === count) this.post(); }, AGAIN);
  }

  /** Note the last edit that the server has taken. */
  taken(mount, number) {
    if (mount === this.mount) this.waiting = this.waiting.filter(one => one.number > number);
  }

  end() { this.isOver = true; }
}
