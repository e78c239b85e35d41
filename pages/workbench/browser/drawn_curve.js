// A curve that the reader draws as a guess on the stage.
import {CurvePad} from "../../charts/browser/curve_pad.js";

const HEIGHT = 170;
const pads = new WeakMap();  // the component's element -> its pad

function tell(pad, values) {
  const told = values.map(value => Number(value.toPrecision(4))), ask = window.dsgLab?.ask ?? ((_, work) => work());
  ask(pad.page, () => pad.set("guess", told));
}

export default function ({data, parentElement, setStateValue}) {
  if (!pads.has(parentElement)) {
    const pad = new CurvePad(parentElement.querySelector(".drawn-curve"), data, data.values, values => tell(pad, values), HEIGHT);
    pads.set(parentElement, pad);
  }
  Object.assign(pads.get(parentElement), {set: setStateValue, page: data.page});
}
