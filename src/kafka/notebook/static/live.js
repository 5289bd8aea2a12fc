// Draws a LiveWidget of kafka.notebook: heading, state, total, a line chart, and the largest rows. All texts are set with
// textContent. The kernel hears of each view, so that it stops to measure when nothing is shown.

const WORDS = { starting: "○ starting", live: "● live", unreachable: "▲ unreachable", stopped: "■ stopped" };
const [WIDTH, HEIGHT] = [600, 120];

function element(parent, name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function number(value) {
  if (value === null || value === undefined) return "unknown";
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : 0 });
}

function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

// Draws the line. The kernel has split it where nothing was measured.
function chart(parent, data) {
  const points = data.segments.flat();
  if (points.length < 2) return;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  const highest = Math.max(1e-9, ...points.map((each) => each[1]));
  const [first, last] = [points[0][0], points[points.length - 1][0]];
  svg.setAttribute("aria-label", `${data.title}: now ${number(data.total)}, maximum ${number(highest)} ${data.unit}`);
  const across = ([time]) => (((time - first) / Math.max(1e-9, last - first)) * WIDTH).toFixed(1);
  const place = ([time, value]) =>
    `${across([time])} ${(HEIGHT - 3 - (value / highest) * (HEIGHT - 8)).toFixed(1)}`;
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", data.segments.map((each) => `M${each.map(place).join("L")}`).join(""));
  const area = document.createElementNS("http://www.w3.org/2000/svg", "path");
  area.setAttribute("class", "area");
  const filled = (each) =>
    `M${across(each[0])} ${HEIGHT}L${each.map(place).join("L")}L${across(each[each.length - 1])} ${HEIGHT}Z`;
  area.setAttribute("d", data.segments.map(filled).join(""));
  svg.append(area, line);
  const figure = element(parent, "div", "chart");
  element(figure, "span", "top", `maximum ${number(highest)}`);
  figure.append(svg);
  const times = element(figure, "div", "times");
  element(times, "span", "", clock(first));
  element(times, "span", "", clock(last));
}

function rows(parent, data) {
  if (!data.rows.length) return;
  const largest = Math.max(1e-9, ...data.rows.map((each) => each[1] ?? 0));
  const table = element(element(parent, "div", "rows"), "table");
  for (const [name, value] of data.rows) {
    const row = element(table, "tr");
    const head = element(row, "th", "", name);
    head.scope = "row";
    const cell = element(row, "td", "bar");
    if (value !== null) element(cell, "span").style.width = `${(100 * value) / largest}%`;
    element(row, "td", "value", number(value));
  }
  if (data.more) element(parent, "p", "quiet", `and ${number(data.more)} more with smaller values`);
}

function draw(el, data) {
  el.replaceChildren();
  const root = element(el, "section", `kafka-live ${data.state}`);
  const header = element(root, "header");
  element(header, "strong", "", data.title);
  const state = element(header, "span", "state", WORDS[data.state] ?? data.state);
  state.setAttribute("role", "status");
  const total = element(root, "p", "total");
  element(total, "b", "", number(data.total));
  element(total, "span", "quiet", ` ${data.unit}`);
  if (data.problem) element(root, "p", "problem", data.problem);
  if (data.note) element(root, "p", "quiet", data.note);
  chart(root, data);
  rows(root, data);
}

function render({ model, el }) {
  const update = () => draw(el, model.get("data"));
  model.on("change:data", update);
  update();
  model.send({ kind: "shown" });
  return () => {
    model.off("change:data", update);
    model.send({ kind: "hidden" });
  };
}

export default { render };
