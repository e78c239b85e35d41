// What the page shows of its run: the newest snapshot, whichever way it came, and the parts of the page that draw it.

/** Return what an answer or a message says: everything except the figures, and the figures as JSON. */
export function read(text) {
  const [first, ...figures] = text.split("\n"), said = JSON.parse(first);
  if (!(said instanceof Object) || figures.length !== (said.figures ?? []).length) throw new Error("incomplete");
  return {said, figures};
}

/** The newest snapshot, and the newest figure of each chart. An older one may arrive later, and then changes nothing. */
export class Shown {
  constructor() {
    this.parts = new Set();  // functions that draw a part of the page
    this.seen = new Set();   // mounts of charts of which the first chart is seen
    this.keeper = null;      // the head of the page that takes the snapshots
    this.reset();
  }

  /** Forget all when the keeper leaves. One that leaves after another has come takes nothing away: Streamlit removes what it has
      moved to another place only after it has drawn it there. */
  leave(keeper) {
    if (this.keeper === keeper) this.reset();
  }

  reset() {
    Object.assign(this, {page: null, owner: null, order: -Infinity, head: null, places: [], figures: new Map()});
  }

  /** Take a snapshot: its words if it is the newest, and those of its figures that are newer than what is there. */
  take(said, figures) {
    // A server that was started again counts its snapshots from 0.
    if (said.page !== this.page || said.owner !== this.owner) this.reset();
    Object.assign(this, {page: said.page, owner: said.owner});
    said.figures.forEach(({key, alt}, number) => {
      const order = this.figures.get(key)?.order ?? -Infinity;
      if (said.order >= order) this.figures.set(key, {order: said.order, alt, figure: figures[number]});
    });
    const isNew = said.order >= this.order;
    if (isNew) Object.assign(this, {order: said.order, head: said, places: said.charts});
    for (const part of this.parts) part(this);
    return isNew;
  }

  /** Draw a part of the page now and after each snapshot; return a function that ends this. */
  on(part) {
    this.parts.add(part);
    if (this.head) part(this);
    return () => this.parts.delete(part);
  }
}

export const shown = new Shown();
