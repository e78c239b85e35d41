// What the reader's hand does, drawn above the map until the map itself shows it.

/** Draw marks on a canvas of this size in pixels: {dots, rings, brush, cross}, all in pixels. */
export function draw(canvas, {width, height}, {dots = [], rings = [], brush = null, cross = null}, ink) {
  const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    Object.assign(canvas, {width: Math.round(width * ratio), height: Math.round(height * ratio)});
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const circle = ([x, y], radius) => { context.beginPath(); context.arc(x, y, radius, 0, 7); };
  for (const {at, color, isFilled} of dots) {
    circle(at, isFilled ? 4 : 2.5);
    context.strokeStyle = context.fillStyle = color;
    if (isFilled) context.fill(); else context.stroke();
  }
  context.strokeStyle = ink;
  context.lineWidth = 2;
  for (const at of rings) { circle(at, 9); context.stroke(); }
  context.lineWidth = 1.5;
  if (brush) { circle(brush.at, brush.radius); context.stroke(); }
  if (cross) {
    const [x, y] = cross;
    context.beginPath();
    context.moveTo(x - 7, y); context.lineTo(x + 7, y); context.moveTo(x, y - 7); context.lineTo(x, y + 7);
    context.stroke();
  }
}
