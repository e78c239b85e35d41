// Texts of a figure as they are written: plotly would make links and styles of tags in the names of a file's columns and classes.

const TAG = /<(?!(br|extra|\/extra)>)/g;  // the app's own tags stay

/** Replace the tags in all texts of a part of a figure, in place. */
export function plain(part) {
  for (const [key, value] of Object.entries(part)) {
    if (typeof value === "string") {
      if (value.includes("<")) part[key] = value.replace(TAG, "&lt;");
    } else if (value instanceof Object && typeof value[0] !== "number") {  // numbers are many, and no text
      plain(value);
    }
  }
}
