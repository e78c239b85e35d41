// A line on the map that the reader drags: on its left the map of labels only, on its right the map of f.
import {frameOf} from "./frame.js";

/** Return the rows of a map: the columns before `share` of them from `left`, the others from `right`. */
export function wiped(left, right, share) {
  const cut = Math.round(share * (right[0]?.length ?? 0));
  return right.map((row, number) => [...left[number].slice(0, cut), ...row.slice(cut)]);
}

/** Create the line over a chart's plot; `moved` is called after each move. */
export function createWipe({root, node}, moved) {
  const line = document.createElement("input"), rule = document.createElement("div");
  const left = document.createElement("span"), right = document.createElement("span");
  Object.assign(line, {type: "range", min: 0, max: 100, step: 1, value: 50, className: "wipe-line"});
  rule.className = "wipe-rule";
  left.className = "wipe-left";
  right.className = "wipe-right";
  rule.append(left, right);
  root.append(rule, line);
  const wipe = {
    share: 0.5,
    /** Show the names of both sides, or hide the line. */
    show(said) {
      line.hidden = rule.hidden = !said;
      if (!said) return;
      [left.textContent, right.textContent] = [said.left, said.right];
      line.setAttribute("aria-label", `Line between ${said.left} and ${said.right}`);
      wipe.fit();
    },
    fit() {
      const at = frameOf(node, root);
      if (!at) return;
      Object.assign(rule.style, {left: `${at.left + wipe.share * at.width}px`, top: `${at.top}px`, height: `${at.height}px`});
      Object.assign(line.style, {left: `${at.left - 8}px`, width: `${at.width + 16}px`, top: `${at.top + at.height - 24}px`});
    },
  };
  line.addEventListener("input", () => {
    wipe.share = Number(line.value) / 100;
    wipe.fit();
    moved();
  });
  wipe.show(null);
  return wipe;
}
