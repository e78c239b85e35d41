// A phone's answers in a room: the browser keeps each, and it is sent until the server has taken or refused it. Used by phone.js.
export class Answers {
  /** `world` sends, says, waits and knows the time; a test brings its own. Nothing may be kept, or nonsense, or the storage be barred. */
  constructor(storage, code, world) {
    const client = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, "0")).join("");
    Object.assign(this, {storage, code, world, isSending: false, kept: {client, answers: {}}});
    try { Object.assign(this.kept, JSON.parse(storage().getItem(`dsgLab.${code}`))); } catch {}
  }

  keep() { try { this.storage().setItem(`dsgLab.${this.code}`, JSON.stringify(this.kept)); } catch {} }

  /** Return the own guess in a round of a question, or null. */
  of(name, round) { return this.kept.answers[`${name} ${round}`]?.guess ?? null; }

  /** Keep an answer in place of an earlier one to the same question, and send all that wait. */
  put(name, round, guess) {
    this.kept.answers[`${name} ${round}`] = {name, round, guess, at: this.world.now(), isWaiting: true};
    this.keep();
    return this.send();
  }

  async send() {
    if (this.isSending) return;
    this.isSending = true;
    const {answers} = this.kept;
    for (let tries = 0, key; (key = Object.keys(answers).find(one => answers[one].isWaiting)) !== undefined; tries += 1) {
      const sent = answers[key], why = await this.once(sent);
      if (why === null) { await this.world.pause(tries); continue; }
      tries = 0;
      if (answers[key] !== sent) continue;  // it was changed meanwhile
      if (why) delete answers[key]; else sent.isWaiting = false;
      this.keep();
      this.world.done(sent.guess, why);
    }
    this.isSending = false;
  }

  /** Send one answer; return why it was refused, "" if it was taken, and null if nothing is known. */
  async once({name, round, guess, at}) {
    const {code, kept: {client}, world} = this;
    try {
      const reply = await world.post(JSON.stringify({code, client, name, round, guess, age: Math.max(0, (world.now() - at) / 1000)}));
      if (reply.status === 429 || reply.status >= 500) throw new Error("busy");
      return (await reply.json()).why ?? "";
    } catch { world.failed(); return null; }
  }
}
