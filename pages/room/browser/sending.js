// Answers on their way: each is kept in the browser until the server has taken or refused it. Used by phone.js.
export const WAITING = "dsgLab.waiting";
const MOST = 20;

/** The browser's storage if it can be used, otherwise the page's own. */
export class Kept {
  constructor(storage) { this.storage = storage; this.own = {}; }
  get(name) { try { return this.storage.getItem(name); } catch { return this.own[name] ?? null; } }
  set(name, text) { try { this.storage.setItem(name, text); } catch { this.own[name] = text; } }
  list(name) { try { const found = JSON.parse(this.get(name)); return Array.isArray(found) ? found : []; } catch { return []; } }
}

export class Sending {
  /** `world` sends, says, waits and knows the time; a test brings its own. */
  constructor(kept, world) { this.kept = kept; this.world = world; this.isSending = false; }

  /** Keep an answer, in place of an earlier one to the same question, and send all that wait. */
  put(answer) {
    const others = this.kept.list(WAITING).filter(one => key(one) !== key(answer));
    this.kept.set(WAITING, JSON.stringify([...others, {...answer, at: this.world.now()}].slice(-MOST)));
    return this.send();
  }

  async send() {
    if (this.isSending) return;
    this.isSending = true;
    for (let tries = 0, next; (next = this.kept.list(WAITING)[0]) !== undefined; tries += 1) {
      const why = await this.once(next);
      if (why === null) { await this.world.pause(tries); continue; }
      tries = 0;
      // An answer that was changed meanwhile stays.
      const left = this.kept.list(WAITING).filter(one => key(one) !== key(next) || one.at !== next.at);
      this.kept.set(WAITING, JSON.stringify(left));
      if (!left.some(one => key(one) === key(next))) this.world.done(next, why);
    }
    this.isSending = false;
  }

  /** Send one answer; return why it was refused, "" if it was taken, and null if nothing is known. */
  async once(answer) {
    const {at, ...body} = answer;
    try {
      const reply = await this.world.post(JSON.stringify({...body, age: Math.max(0, (this.world.now() - at) / 1000)}));
      if (reply.status === 429 || reply.status >= 500) throw new Error("busy");
      return (await reply.json()).why ?? "";
    } catch { this.world.failed(); return null; }
  }
}

const key = answer => [answer.code, answer.name, answer.round].join(" ");
