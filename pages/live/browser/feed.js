// Asks the server for ticks during a run while its page is visible, and for what the reader asks for.
import {read} from "./shown.js";

const TRY_AGAIN = 100, FIRST_WAIT = 500, LONGEST_WAIT = 8000;  // milliseconds

/** Return an error with a sentence on why there is no tick. */
export const trouble = why => Object.assign(new Error(why), {why});

/** Return a server's answer, or throw an error if it is not from the app's server. */
export function understood(text) {
  if (!text) throw trouble("the server's answer is empty");
  try {
    const {said, figures} = read(text);
    if (said.isBusy || said.isOver || said.figures) return {said, figures};
  } catch {}
  throw trouble("something else answered instead of the app");
}

/**
 * One request after another, as long as the run goes on.
 *
 * world has: ask(body), a promise of an answer's text; take(said, figures), which shows an answer; redraw(), which asks the
 * script to draw the page; complain(why, wait); reload(); isSeen(), false for a hidden page and before the first curve;
 * isThere(), false after the page was left; pause(milliseconds), a promise.
 */
export class Feed {
  constructor(world) {
    Object.assign(this, {world, token: "", pace: 250, isOver: true, wish: "", failures: 0, isGoing: false, hasTicked: false});
    this.wake = () => {};
  }

  /** Follow the run of this token. */
  follow({token, pace, isOver}) {
    Object.assign(this, {token, pace, isOver});
    this.go();
  }

  /** Ask for something besides a tick, such as "look 12"; only the newest wish counts. */
  want(wish) {
    this.wish = wish;
    this.wake();
    this.go();
  }

  get hasWork() {
    return Boolean(this.token && this.world.isThere() && (this.wish || (!this.isOver && this.world.isSeen())));
  }

  async go() {
    if (this.isGoing) return;
    this.isGoing = true;
    try {
      while (this.hasWork) {
        const begun = Date.now(), wait = await this.once(this.token, this.takeWish());
        if (this.hasWork) await this.rest(Math.max(wait, this.pace - (Date.now() - begun)));
      }
    } finally {
      this.isGoing = false;
    }
  }

  takeWish() {
    const wish = this.wish;
    this.wish = "";
    return wish;
  }

  /** Wait; a wish ends the wait. */
  rest(milliseconds) {
    return this.wish ? null : Promise.race([this.world.pause(milliseconds), new Promise(done => { this.wake = done; })]);
  }

  /** Ask once and show the answer; return the least wait before the next request. */
  async once(token, wish) {
    try {
      const {said, figures} = understood(await this.world.ask(wish ? `${token} ${wish}` : token));
      if (this.token !== token || !this.world.isThere()) return 0;  // another run may be active by now
      return this.answered(said, figures, wish);
    } catch (error) {
      if (!error.why) console.error(error);
      const wait = Math.min(FIRST_WAIT * 2 ** this.failures++, LONGEST_WAIT);
      this.wish ||= wish;
      if (this.token === token && this.world.isThere()) this.world.complain(error.why ?? "the answer cannot be shown", wait);
      return wait;
    }
  }

  answered(said, figures, wish) {
    if (said.isBusy) {
      this.wish ||= wish;
      return TRY_AGAIN;
    }
    this.isOver = said.isOver;
    if (said.isLost) {
      // Streamlit connects again but draws nothing; the link holds the run's position.
      if (this.hasTicked) this.world.reload();
      return 0;
    }
    this.hasTicked = true;
    if (said.figures) this.world.take(said, figures);
    if (said.redraw || this.failures) this.world.redraw();  // ticks do not repeat lost changes
    this.failures = 0;
    return 0;
  }
}
