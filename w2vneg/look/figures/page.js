"use strict";
// Draws figures as `figure_json` writes them; a map has labels, and can be searched, marked and clicked.
// Labels of points are escaped in figures, as Plotly interprets some tags.
const SIGNS = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };
const ESCAPES = Object.fromEntries(Object.entries(SIGNS).map(([escape, sign]) => [sign, escape]));
const asText = (escaped) => escaped.replace(/&(?:amp|lt|gt|quot|#x27);/g, (escape) => SIGNS[escape]);
const asMarkup = (text) => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign]);
const ARRAYS = { f4: Float32Array, u1: Uint8Array };
const numbers = ({ dtype, bdata }) => new ARRAYS[dtype](Uint8Array.from(atob(bdata), (sign) => sign.charCodeAt(0)).buffer);

// Draw in an element, in the colours of its page.
function drawFigure(place, figure) {
  const ink = getComputedStyle(document.body).color, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const { layout } = figure, map = layout.dragmode === "pan", grid = dark ? "#3b3e45" : "#e6e6e6";
  for (const axis of [layout.xaxis, layout.yaxis]) Object.assign(axis, { gridcolor: grid, linecolor: "#888" });
  Object.assign(layout, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" });
  layout.font.color = ink;
  for (const { line, marker } of figure.data) for (const part of [line, marker]) if (part?.color === "#000000") part.color = ink;
  const options = { responsive: true, displaylogo: false, scrollZoom: map, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  return Plotly.newPlot(place, figure.data, layout, options);
}

function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  const margin = (high - low) / 20 || 1;
  return [low - margin, high + margin];
}

const POINTS = 75_000;  // drawn at a time
const CELL = [112, 56];  // pixels: a region that shows the label of its most frequent word

// A map, drawn in the `.plot` of a box. `clicked` is called with the row of a point.
// If there are too many points to draw smoothly, only the first in view are drawn: rows are sorted by frequency, so zooming in shows rarer ones.
class PointMap {
  static async of(box, figure, clicked) {
    const map = new PointMap(), { data: [trace], layout } = figure, { marker } = trace;
    Object.assign(map, { box, marker, at: [numbers(trace.x), numbers(trace.y)], texts: trace.text, words: trace.text.map(asText), marks: [] });
    const above = (name) => { const made = document.createElement("div"); made.className = name; return box.insertBefore(made, box.querySelector(".plot")); };
    map.controls = above("controls");
    map.addLegend(above("clusters"));
    Object.assign(marker, { color: numbers(marker.color), size: numbers(marker.size), showscale: false });
    const axis = { showticklabels: false, showgrid: false, title: "" };  // coordinates mean nothing, only proximity
    for (const one of [layout.xaxis, layout.yaxis]) Object.assign(one, axis);
    layout.margin = { l: 4, r: 4, b: 4, t: layout.title.text ? 32 : 4 };
    if (layout.height && box.clientWidth < 500) layout.height = 480;
    map.full = map.at.map(rangeOf);
    [layout.xaxis.range, layout.yaxis.range] = map.full.map((range) => [...range]);
    map.choose(map.full);
    for (const [name, [value]] of Object.entries(map.points())) trace[name] = value;
    map.plot = await drawFigure(box.querySelector(".plot"), figure);
    map.followView();
    await map.label();
    if (clicked) map.plot.on("plotly_click", ({ points: [point] }) => clicked(map.rows[point.pointNumber]));
    return map;
  }

  // Choose the rows to draw: those within or just outside ranges of x and y.
  choose(ranges) {
    const rows = [], [x, y] = this.at, wide = ranges.map(([low, high]) => [low - (high - low) / 4, high + (high - low) / 4]);
    const [[left, right], [low, high]] = this.words.length > POINTS ? wide : [[-Infinity, Infinity], [-Infinity, Infinity]];
    for (let i = 0; i < x.length && rows.length < POINTS; i++) if (x[i] >= left && x[i] <= right && y[i] >= low && y[i] <= high) rows.push(i);
    this.rows = rows;
  }

  // The chosen rows as Plotly's `restyle` takes them.
  points() {
    const { rows, at: [x, y], marker } = this, of = (values) => [rows.map((row) => values[row])];
    return { x: of(x), y: of(y), text: of(this.texts), marker: [{ ...marker, color: of(marker.color)[0], size: of(marker.size)[0] }] };
  }

  // Label the marked points and, if there is room, the most frequent word of each region in view.
  label() {
    const { xaxis, yaxis } = this.plot._fullLayout, [x, y] = this.at, seen = new Set(), marked = new Set(this.marks.map(({ row }) => row)), found = [];
    const half = (row) => 3.4 * Math.min(this.words[row].length, 18) + 3;
    const boxes = this.marks.map(({ row, ay }) => [xaxis.d2p(x[row]), yaxis.d2p(y[row]) + ay, half(row)]);
    for (const row of this.rows) {
      const across = xaxis.d2p(x[row]), down = yaxis.d2p(y[row]), wide = half(row);
      if (marked.has(row) || across < wide || down < 8 || across > xaxis._length - wide || down > yaxis._length - 8) continue;
      const cell = `${Math.floor(across / CELL[0])} ${Math.floor(down / CELL[1])}`;
      if (seen.has(cell) || boxes.some(([a, d, h]) => Math.abs(d - down) < 18 && Math.abs(a - across) < h + wide)) continue;
      seen.add(cell);
      boxes.push([across, down, wide]);
      found.push(row);
    }
    const short = (row) => (this.words[row].length > 18 ? asMarkup(`${this.words[row].slice(0, 17)}…`) : this.texts[row]);
    const paper = getComputedStyle(document.body).backgroundColor.replace(/^rgb\((.*)\)$/, "rgba($1, 0.7)");
    const labels = found.map((row) => ({ x: x[row], y: y[row], text: short(row), showarrow: false, bgcolor: paper, borderpad: 0, font: { size: 12 } }));
    return Plotly.relayout(this.plot, { annotations: [...this.marks, ...labels] });
  }

  // Show the colour of each cluster.
  addLegend(place) {
    const { colorscale, colorbar: { ticktext } } = this.marker;
    ticktext.forEach((name, i) => {
      const entry = document.createElement("span"), dot = document.createElement("i");
      dot.style.background = colorscale[2 * i][1];
      entry.append(dot, asText(name));
      place.append(entry);
    });
  }

  // Update labels when the view changes; with very many points, also draw those now in view and show how many there are.
  followView() {
    const told = document.createElement("output"), many = this.words.length > POINTS;
    const tell = () => {
      told.textContent = this.rows.length < POINTS ? "All points in view are drawn." : `${POINTS.toLocaleString("en")} of ${this.words.length.toLocaleString("en")} points are drawn, the most frequent in view; zoom in for more.`;
    };
    if (many) { this.controls.append(told); tell(); }
    let before = "";
    this.plot.on("plotly_relayout", async () => {
      const { xaxis, yaxis } = this.plot._fullLayout, ranges = [[...xaxis.range], [...yaxis.range]];
      if (before === (before = `${ranges} ${xaxis._length}`)) return;
      if (many) {
        this.choose(ranges);
        tell();
        await Plotly.restyle(this.plot, this.points(), [0]);
      }
      await this.label();
    });
  }

  addSearch(id) {
    const [label, input, list, found] = ["label", "input", "datalist", "output"].map((tag) => document.createElement(tag));
    Object.assign(input, { type: "search", className: "search", autocomplete: "off", spellcheck: false });
    input.setAttribute("list", id);
    list.id = id;
    found.className = "found";
    found.setAttribute("aria-live", "polite");
    label.append("Find on the map: ", input);
    this.controls.prepend(label, list, found);
    const lower = this.words.map((word) => word.toLowerCase());
    input.addEventListener("input", () => {
      const exactly = input.value.trim(), asked = exactly.toLowerCase(), begins = [];
      for (let i = 0; asked && i < lower.length && begins.length < 12; i++) if (lower[i].startsWith(asked)) begins.push(i);
      list.replaceChildren(...begins.map((i) => new Option(this.words[i], this.words[i])));
      const at = [this.words.indexOf(exactly), lower.indexOf(asked), begins[0] ?? -1].find((row) => row >= 0);
      found.textContent = !asked ? "" : at === undefined ? "not on the map" : this.words[at];
      this.mark(asked && at !== undefined ? [at] : []);
    });
  }

  // Mark points with their words, the first `asked` of them prominently, and show their surroundings.
  mark(rows, asked = 1) {
    const ink = getComputedStyle(document.body).color;
    const [x, y] = this.at;
    this.marks = rows.map((row, i) => ({
      row, x: x[row], y: y[row], text: asMarkup(this.words[row]), showarrow: true, arrowhead: 0, arrowcolor: ink, ax: 0, ay: i < asked ? -30 : -16,
      bgcolor: i < asked ? "#ffe9a8" : "#ffffffd0", font: { size: i < asked ? 14 : 11, color: "#1d1d1f" }, borderpad: 1,
    }));
    const shapes = rows.map((row) => ({
      type: "circle", xsizemode: "pixel", ysizemode: "pixel", xanchor: x[row], yanchor: y[row],
      x0: -5, x1: 5, y0: -5, y1: 5, line: { color: ink, width: 1.5 },
    }));
    const ranges = {};
    this.at.forEach((at, axis) => {
      const [low, high] = this.full[axis], own = rows.map((row) => at[row]), least = (high - low) / 16;
      const [first, last] = [Math.min(...own), Math.max(...own)], margin = Math.max(least, (last - first) / 6);
      if (rows.length) ranges[`${"xy"[axis]}axis.range`] = [first - margin, last + margin];
    });
    return Plotly.relayout(this.plot, { shapes, ...ranges }).then(() => this.label());
  }
}
